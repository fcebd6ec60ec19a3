// Load and fault rates of a run: half a minute in CI, any length by `npm run soak`.

/** The shortest and the longest wait in milliseconds; chance chooses between. */
export type IntervalRange = readonly [number, number];

export type SoakProfile = {
  readonly troubleMs: number;
  /** Simulator steps before anything else starts. */
  readonly historySteps: number;
  readonly stepsPerSecond: number;
  readonly readers: number;
  readonly writers: number;
  readonly payers: number;
  readonly kills: IntervalRange;
  /** Null if the run is too short for it. */
  readonly freezes: IntervalRange | null;
  readonly reorgs: IntervalRange;
  readonly databaseRestarts: IntervalRange;
  /** Duration of a node's faults, and of the healthy time between them. */
  readonly nodeTrouble: IntervalRange;
  /** How long a front-runner, lies of the facilitator and absurd fees last; they rest half as long. */
  readonly moneyTrouble: IntervalRange;
  /** Between two payments of one payer. */
  readonly payments: IntervalRange;
  /** Whether a node may not respond at all, which costs its caller twenty seconds. */
  readonly silentNodes: boolean;
};

export const SHORT_PROFILE: SoakProfile = {
  troubleMs: 17_000,
  historySteps: 150,
  stepsPerSecond: 8,
  readers: 3,
  writers: 1,
  payers: 4,
  kills: [1_500, 3_500],
  freezes: null,
  reorgs: [1_000, 3_000],
  // Few enough for the longest run that a busy machine needs: the embedded server gives up on more than five a minute.
  databaseRestarts: [12_000, 15_000],
  nodeTrouble: [1_500, 3_000],
  moneyTrouble: [4_000, 8_000],
  payments: [200, 1_000],
  silentNodes: false,
};

export function longProfile(minutes: number): SoakProfile {
  return {
    ...SHORT_PROFILE,
    troubleMs: minutes * 60_000,
    historySteps: 400,
    readers: 4,
    writers: 2,
    kills: [2_000, 9_000],
    freezes: [10_000, 40_000],
    reorgs: [1_000, 8_000],
    // The embedded server gives up on a server that ends more than five times a minute.
    databaseRestarts: [15_000, 45_000],
    nodeTrouble: [2_000, 12_000],
    moneyTrouble: [5_000, 20_000],
    payments: [300, 3_000],
    silentNodes: true,
  };
}

export function drawInterval([from, to]: IntervalRange, random: () => number): number {
  return from + (to - from) * random();
}
