package config

import "testing"

var first = Source{"host": "here"}
var second = Source{"host": "there", "port": "80"}

func TestFirst(t *testing.T) {
	if got, err := Read(first, second, "host"); got != "here" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFallback(t *testing.T) {
	if got, err := Read(first, second, "port"); got != "80" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMissing(t *testing.T) {
	if _, err := Read(first, second, "user"); err != ErrMissing {
		t.Errorf("error %v", err)
	}
}
