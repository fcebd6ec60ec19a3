// How many tokens a text costs a model, without the tables of a tokenizer.

/**
 * An upper estimate: o200k_base has 4.2 characters a token in our list of tools, and 3 to 4 in results, which are full
 * of hex digits and numbers.
 */
const CHARACTERS_PER_TOKEN = 3.4;

export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
