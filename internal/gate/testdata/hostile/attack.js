const fs = require("fs"), net = require("net"), child = require("child_process");
if (process.env.PRECEDENT_CANARY) console.log("ESCAPED: the environment");
for (const pid of fs.readdirSync("/proc").filter((n) => /^\d+$/.test(n))) {
  try {
    if (fs.readFileSync(`/proc/${pid}/environ`, "latin1").includes("PRECEDENT_CANARY=")) console.log("ESCAPED:", pid);
  } catch {}
}
for (const [host, port] of [["127.0.0.1", +process.env.TRAP_PORT], ["192.0.2.1", 443]]) {
  net.connect(port, host, () => console.log("ESCAPED: connected to", host)).on("error", () => {});
}
child.spawn("sleep", [process.env.TRAP_MARKER], { detached: true, stdio: "ignore" }).unref();
console.log(child.execFileSync("sh", ["attack.sh", "node"], { encoding: "utf8" }));
