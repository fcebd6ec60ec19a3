// What a careful reader must know about one chain, in sentences; names of tokens stay out, for anyone may choose them.
import type { ValuedChain, ValuedToken } from "./value-chain.ts";

// A wallet that was sent thousands of broken tokens must not drown what matters.
const WARNINGS_HEARD_MAX = 25;
// A sentence that nobody can read warns nobody; the list of tokens itself is complete.
const ADDRESSES_MAX = 50;

export function describeChainWarnings({
  data: parts,
  tokens,
  positions,
  shownAsReceiptTokens: yielding,
}: ValuedChain): readonly string[] {
  const { chain, block, warnings } = parts;
  const counted = tokens.filter(({ spamReasons }) => spamReasons.length === 0);
  const withoutDecimals = counted.filter(({ token: shown }) => shown.decimals === null);
  const unpriced = counted.filter(({ token: shown }) => shown.decimals !== null && shown.priceUsd === null);
  const unvalued = positions.filter(({ value }) => value === null);
  return [
    `${chain.name} was read at block ${block.number} (${block.hash}).`,
    ...capped(chain.name, warnings),
    ...about(unpriced, `have no known price on ${chain.name} and are missing in its totals`),
    ...about(withoutDecimals, `do not state their decimals on ${chain.name}: only the raw balance is known`),
    ...unvalued.map(
      ({ position: shown }) =>
        `A position in ${shown.protocol} on ${chain.name} holds an asset without a known price: it has no value and is missing in the totals.`,
    ),
    ...yielding.map(
      ({ protocol }) =>
        `Positions in ${protocol} on ${chain.name} can not be valued in full: their receipt tokens, which can, are shown as tokens instead.`,
    ),
    ...spamWarnings(chain.name, tokens),
  ];
}

function capped(chainName: string, warnings: readonly string[]): readonly string[] {
  const distinct = [...new Set(warnings)];
  const left = distinct.length - WARNINGS_HEARD_MAX;
  if (left <= 0) return distinct;
  return [
    ...distinct.slice(0, WARNINGS_HEARD_MAX),
    `${left} more warnings about ${chainName} are left out here.`,
  ];
}

function about(tokens: readonly ValuedToken[], what: string): readonly string[] {
  return tokens.length === 0 ? [] : [`These tokens ${what}: ${addresses(tokens)}.`];
}

/** One sentence a reason, so that their number does not grow with the spam. */
function spamWarnings(chainName: string, tokens: readonly ValuedToken[]): readonly string[] {
  const reasons = new Set(tokens.flatMap(({ spamReasons }) => spamReasons));
  return [...reasons].sort().map((reason) => {
    const meant = tokens.filter(({ spamReasons }) => spamReasons.includes(reason));
    return `Taken for spam on ${chainName} and not counted: ${addresses(meant)}. ${reason}`;
  });
}

function addresses(tokens: readonly ValuedToken[]): string {
  const shown = tokens.slice(0, ADDRESSES_MAX).map(({ token: shown }) => shown.contract ?? "the native coin");
  const left = tokens.length - shown.length;
  return left > 0 ? `${shown.join(", ")} and ${left} more` : shown.join(", ");
}
