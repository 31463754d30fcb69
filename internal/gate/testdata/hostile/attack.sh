# What a build file of a stranger may do. Whatever works is said with ESCAPED.
[ -z "${PRECEDENT_CANARY:-}" ] || echo "ESCAPED: the environment"
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -q '^PRECEDENT_CANARY=' && echo "ESCAPED: an environment in /proc"
for dir in / .. /usr /etc /root /home /var/tmp /run /dev "$TRAP_FOLDER"; do
	if echo x 2>/dev/null >"$dir/written-by-$$"; then echo "ESCAPED: wrote to $dir"; fi
done 2>/dev/null
[ ! -e "$TRAP_FOLDER/canary" ] || echo "ESCAPED: saw a file"
ln -s "$TRAP_FOLDER/canary" link 2>/dev/null && cat link 2>/dev/null && echo "ESCAPED: through a link"
if command -v bash >/dev/null; then
	bash -c "exec 3<>/dev/tcp/127.0.0.1/$TRAP_PORT" 2>/dev/null && echo "ESCAPED: the host's loopback"
	bash -c "exec 3<>/dev/tcp/192.0.2.1/443" 2>/dev/null && echo "ESCAPED: the network"
fi
if command -v unshare >/dev/null; then unshare -Ur true 2>/dev/null && echo "ESCAPED: a user namespace"; fi
if command -v mount >/dev/null; then mount -t tmpfs none /tmp 2>/dev/null && echo "ESCAPED: mounted"; fi
(trap '' HUP TERM INT; exec setsid sleep "$TRAP_MARKER") >/dev/null 2>&1 &
(setsid sh -c 'trap "" HUP TERM INT; sleep "$TRAP_MARKER" & wait' &) >/dev/null 2>&1
echo "attacked by ${1:-sh}"
