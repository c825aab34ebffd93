package tags

import (
	"reflect"
	"testing"
)

var index = Index{
	"a": {"go", "db"},
	"b": {"web", "go"},
	"c": {"api", "db", "cli"},
}

func TestPages(t *testing.T) {
	if got := index.Pages(); !reflect.DeepEqual(got, []string{"a", "b", "c"}) {
		t.Errorf("%v", got)
	}
}

func TestTags(t *testing.T) {
	want := []string{"api", "cli", "db", "go", "web"}
	for i := 0; i < 20; i++ {
		if got := index.Tags(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestNoTags(t *testing.T) {
	if got := (Index{}).Tags(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
