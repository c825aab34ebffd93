package tags

import "sort"

// Index holds the tags of pages.
type Index map[string][]string

// Pages are the names of all pages, sorted.
func (x Index) Pages() []string {
	pages := make([]string, 0, len(x))
	for page := range x {
		pages = append(pages, page)
	}
	sort.Strings(pages)
	return pages
}

// Tags are all tags in use, each once, sorted.
func (x Index) Tags() []string {
	seen := map[string]bool{}
	tags := []string{}
	for _, page := range x {
		for _, tag := range page {
			if !seen[tag] {
				seen[tag] = true
				tags = append(tags, tag)
			}
		}
	}
	return tags
}
