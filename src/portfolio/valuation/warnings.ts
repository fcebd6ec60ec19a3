// The warnings about one chain. They never contain token names, because anyone may choose those.
import type { ValuedChain, ValuedToken } from "./value-chain.ts";

// A wallet with thousands of broken tokens must not drown the important warnings.
const READER_WARNINGS_MAX = 25;
// Keeps a warning readable; the list of tokens in the response is complete.
const ADDRESSES_MAX = 50;

export function describeChainWarnings({
  data,
  tokens,
  positions,
  shownAsReceiptTokens,
}: ValuedChain): readonly string[] {
  const { chain, block, warnings } = data;
  const counted = tokens.filter(({ spamReasons }) => spamReasons.length === 0);
  const withoutDecimals = counted.filter(({ token }) => token.decimals === null);
  const unpriced = counted.filter(({ token }) => token.decimals !== null && token.priceUsd === null);
  const unvalued = positions.filter(({ value }) => value === null);
  return [
    `${chain.name} was read at block ${block.number} (${block.hash}).`,
    ...limitWarnings(chain.name, warnings),
    ...describeTokens(unpriced, `have no known price on ${chain.name} and are missing in its totals`),
    ...describeTokens(
      withoutDecimals,
      `do not state their decimals on ${chain.name}: only the raw balance is known`,
    ),
    ...unvalued.map(
      ({ position }) =>
        `A position in ${position.protocol} on ${chain.name} holds an asset without a known price: it has no value and is missing in the totals.`,
    ),
    ...shownAsReceiptTokens.map(
      ({ protocol }) =>
        `Positions in ${protocol} on ${chain.name} cannot be valued in full: their receipt tokens, which can, are shown as tokens instead.`,
    ),
    ...describeSpam(chain.name, tokens),
  ];
}

function limitWarnings(chainName: string, warnings: readonly string[]): readonly string[] {
  const distinct = [...new Set(warnings)];
  const omitted = distinct.length - READER_WARNINGS_MAX;
  if (omitted <= 0) return distinct;
  return [
    ...distinct.slice(0, READER_WARNINGS_MAX),
    `${omitted} more warnings about ${chainName} are left out here.`,
  ];
}

function describeTokens(tokens: readonly ValuedToken[], what: string): readonly string[] {
  return tokens.length === 0 ? [] : [`These tokens ${what}: ${formatAddresses(tokens)}.`];
}

/** One warning per reason, so that their number does not grow with the spam. */
function describeSpam(chainName: string, tokens: readonly ValuedToken[]): readonly string[] {
  const reasons = new Set(tokens.flatMap(({ spamReasons }) => spamReasons));
  return [...reasons].sort().map((reason) => {
    const matching = tokens.filter(({ spamReasons }) => spamReasons.includes(reason));
    return `Classified as spam on ${chainName} and not counted: ${formatAddresses(matching)}. ${reason}`;
  });
}

function formatAddresses(tokens: readonly ValuedToken[]): string {
  const named = tokens.slice(0, ADDRESSES_MAX).map(({ token }) => token.contract ?? "the native coin");
  const omitted = tokens.length - named.length;
  return omitted > 0 ? `${named.join(", ")} and ${omitted} more` : named.join(", ");
}
