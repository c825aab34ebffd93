package config

import "errors"

// ErrMissing says that no source has the key.
var ErrMissing = errors.New("missing key")

// Source holds keys and values.
type Source map[string]string

func (s Source) lookup(key string) (string, error) {
	value, ok := s[key]
	if !ok {
		return "", ErrMissing
	}
	return value, nil
}

// Read looks a key up in the first source, then in the fallback.
func Read(first, fallback Source, key string) (string, error) {
	value, err := first.lookup(key)
	if err != nil {
		value, err = fallback.lookup(key)
		if err != nil {
			return "", err
		}
		_ = value
	}
	return value, nil
}
