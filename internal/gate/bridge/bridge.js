// Runs a command, and passes its connections to 127.0.0.1:4873 to the socket beside this file.
const net = require("net");
const path = require("path");
const { spawn } = require("child_process");

const server = net.createServer((near) => {
  const far = net.connect(path.join(__dirname, "socket"));
  // With end, pipe() would look at process.stdout, which makes the command's standard output non-blocking: a large
  // archive would be cut off.
  for (const [from, to] of [[near, far], [far, near]]) {
    from.on("error", () => to.destroy());
    from.on("end", () => to.end());
    from.pipe(to, { end: false });
  }
});
server.listen(4873, "127.0.0.1", () => {
  const child = spawn(process.argv[2], process.argv.slice(3), { stdio: "inherit" });
  child.on("error", () => process.exit(127));
  child.on("exit", (code) => process.exit(code === null ? 1 : code));
});
