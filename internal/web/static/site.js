// The pages work without this script.

// The value of a slider is shown while it moves.
document.addEventListener("input", (event) => {
  const output = event.target.id && document.querySelector(`output[for="${CSS.escape(event.target.id)}"]`);
  if (output) output.value = event.target.value;
});
// Browsers keep pages for the back button, also after a person has signed out.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
