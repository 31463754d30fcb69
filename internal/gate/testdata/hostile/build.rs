fn main() {
    if std::env::var("PRECEDENT_CANARY").is_ok() {
        eprintln!("ESCAPED: the environment");
    }
    let out = std::process::Command::new("sh").args(["attack.sh", "cargo"]).output().unwrap();
    eprintln!("{}", String::from_utf8_lossy(&out.stdout));
}
