package diff

import "testing"

// TestIsCatalogue: texts of a program are told by their names and folders.
func TestIsCatalogue(t *testing.T) {
	for name, want := range map[string]bool{
		"po/he.po": true, "app/src/main/res/values-fa/02-strings.xml": true, "res/values-pt-rBR/strings.xml": true, "i18n/el.json": true, "src/__locales/be.json": true, "messages/fa_ir/a.json": true, "messages/fa.json": true, "app/Languages/ar.ini": true,
		"store/PDPs/qps-ploca/PDP.xml": true, "installer/nativeLang/kabyle.xml": true, "src/strings/en-us.json": true, "moko-resources/de/strings.xml": true,
		"res/values/strings.xml": false, "res/values-night/styles.xml": false, "lang/el/validation.php": false, "config/el.json": false, "messages/api/a.json": false, "messages/api.json": false, "config/db_QA.yml": false, "strings/data.json": false,
	} {
		if got := isCatalogue(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
