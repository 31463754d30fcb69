// The pages work without this script. It shows the value of a slider while it moves.
document.addEventListener("input", (event) => {
  const output = event.target.id && document.querySelector(`output[for="${CSS.escape(event.target.id)}"]`);
  if (output) output.value = event.target.value;
});
