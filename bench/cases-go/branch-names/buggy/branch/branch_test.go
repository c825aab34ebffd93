package branch

import "testing"

func TestTopic(t *testing.T) {
	for name, want := range map[string]string{
		"feature/login": "login",
		"feature/tree":  "tree",
		"main":          "main",
	} {
		if got := Topic(name); got != want {
			t.Errorf("Topic(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIsFeature(t *testing.T) {
	if !IsFeature("feature/x") || IsFeature("fix/x") {
		t.Error("wrong")
	}
}

func TestTitle(t *testing.T) {
	if got := Title("feature/new-look"); got != "new look" {
		t.Errorf("%q", got)
	}
}
