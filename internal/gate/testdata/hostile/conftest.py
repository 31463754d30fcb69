import glob, os, socket, subprocess, sys

if "PRECEDENT_CANARY" in os.environ:
    print("ESCAPED: the environment")
for name in glob.glob("/proc/[0-9]*/environ"):
    try:
        with open(name, "rb") as f:
            if b"PRECEDENT_CANARY=" in f.read():
                print("ESCAPED:", name)
    except OSError:
        pass
for address in (("127.0.0.1", int(os.environ["TRAP_PORT"])), ("192.0.2.1", 443)):
    try:
        socket.create_connection(address, 1)
        print("ESCAPED: connected to", address)
    except OSError:
        pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", os.environ["TRAP_MARKER"]])
    os._exit(0)
sys.stdout.flush()
subprocess.run(["sh", "attack.sh", "python"], check=False)
