package branch

import "strings"

// Prefix is what every feature branch begins with.
const Prefix = "feature/"

// Topic is the branch's name without the prefix.
func Topic(name string) string {
	return strings.TrimPrefix(name, Prefix)
}

// IsFeature says whether a branch is one.
func IsFeature(name string) bool {
	return strings.HasPrefix(name, Prefix)
}

// Title is the topic as words.
func Title(name string) string {
	return strings.ReplaceAll(Topic(name), "-", " ")
}
