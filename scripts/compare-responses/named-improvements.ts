// Names what paid responses say otherwise than those of earlier versions on purpose, so that all else can be compared byte for byte.

type Json = Readonly<Record<string, unknown>>;

type Improvement = {
  readonly reason: string;
  /** Left out of both responses, wherever it is in them. */
  readonly member?: string;
  /** Left out only if its object has this member, too. */
  readonly ofObjectsWith?: string;
  /** Whether the member is left out of this pair; always if absent. */
  readonly applies?: (now: Json) => boolean;
  /** Warnings that only one of the versions has. */
  readonly warning?: RegExp;
  /** The part of a warning that only one of the versions has. */
  readonly partOfWarning?: RegExp;
};

const hasSelfReported = (now: Json): boolean => JSON.stringify(now).includes('"selfReported":true');

const NAMED_IMPROVEMENTS: readonly Improvement[] = [
  {
    member: "unlistedValueUsd",
    reason: "Says how much of the total rests on prices of tokens that no list has.",
  },
  { member: "selfReported", reason: "Marks positions of vaults that only a token list vouches for." },
  {
    member: "stablecoinValueUsd",
    applies: hasSelfReported,
    reason: "Those vaults do not count as stablecoins: what they hold is their own word.",
  },
  { warning: /^Only a token list vouches for these vaults /, reason: "Names those vaults." },
  {
    member: "name",
    ofObjectsWith: "contract",
    reason: "A listed token has the name of the list: its owner must not be able to rename it.",
  },
  {
    partOfWarning: /(?<= since block 0) \(about \d+ (?:minute|hour|day)s?\)/,
    reason: "From the first block on, nothing is missing, however long ago that was.",
  },
  {
    partOfWarning:
      /\d+ (?=listed tokens returned no balance)|(?<=returned no balance .*) and \d+ more(?=\.)/g,
    reason: "The lists have more tokens than those of earlier versions, and a local chain has none of them.",
  },
  { member: "partial", ofObjectsWith: "valueAtRiskUsd", reason: "Marks what is at risk only in part." },
  { member: "spenderListVersion", reason: "The list of known spenders has grown." },
  { partOfWarning: /(?<= spender of list )\d+ \([\d-]+\)/, reason: "The version of that list." },
  {
    partOfWarning: /(?<= for held tokens)(?:, stablecoins and positions| and stablecoins)/,
    reason: "Exposures ask about positions, too.",
  },
  {
    partOfWarning:
      /\d+ (?=possible permissions could not be read)|(?<=possible permissions .*) and \d+ more(?=\.)/g,
    reason: "More spenders are asked about, and a local chain has none of the tokens.",
  },
];

/** Names more headers than earlier versions did. */
const GROWN_HEADER = "access-control-expose-headers";

export function withoutGrownHeader(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { [GROWN_HEADER]: _grown, ...others } = headers;
  return others;
}

/** A pair of responses without what is named. */
export function withoutImprovements(before: unknown, now: unknown): readonly [unknown, unknown] {
  const applied = NAMED_IMPROVEMENTS.filter(({ applies }) => applies?.(now as Json) ?? true);
  const isLeftOut = (key: string, object: object) =>
    applied.some(({ member, ofObjectsWith = key }) => member === key && Object.hasOwn(object, ofObjectsWith));
  const leaveOut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(leaveOut);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !isLeftOut(key, value))
        .map(([key, part]) => [key, key === "warnings" ? stripWarnings(part, applied) : leaveOut(part)]),
    );
  };
  return [leaveOut(before), leaveOut(now)];
}

function stripWarnings(warnings: unknown, applied: readonly Improvement[]): unknown {
  if (!Array.isArray(warnings)) return warnings;
  return warnings
    .filter((text) => !applied.some(({ warning }) => warning?.test(text)))
    .map((text) =>
      applied.reduce((rest, { partOfWarning }) => rest.replace(partOfWarning ?? "", ""), String(text)),
    );
}
