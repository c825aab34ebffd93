const VALUED = new Set(["--out", "--level"]);

/** Splits a command line into options and files. */
export function read(words) {
  const options = {};
  const files = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (VALUED.has(word)) {
      options[word.slice(2)] = words[++i];
    } else if (word.startsWith("--")) {
      options[word.slice(2)] = true;
    } else {
      files.push(word);
    }
  }
  return { options, files };
}
