// EIP-55: the case of an address is its checksum, which is the only sign of a mistyped digit.

const LANE_MASK = (1n << 64n) - 1n;

/** The problem with an address in mixed case; empty for any other text. */
export function findChecksumProblem(text: string): string {
  const address = text.trim();
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  const isMixed = digits !== lower && digits !== digits.toUpperCase();
  if (!/^0x[0-9a-fA-F]{40}$/.test(address) || !isMixed || digits === applyChecksum(lower)) return "";
  return "This address has a wrong checksum (EIP-55), so a digit may be mistyped. Compare it with its source, then write it in lower case.";
}

/** Upper case if the hash of the digits has a half byte of at least 8. The digits are in lower case. */
function applyChecksum(digits: string) {
  const hash = hashShortText(digits);
  return [...digits]
    .map((digit, index) => (Number.parseInt(hash[index] ?? "0", 16) >= 8 ? digit.toUpperCase() : digit))
    .join("");
}

/** Keccak-256 of at most 135 ASCII characters: one block. Returns hex digits. */
export function hashShortText(text: string): string {
  const block = new Uint8Array(200);
  block.set(new TextEncoder().encode(text));
  block[text.length] = 0x01;
  block[135] = (block[135] ?? 0) | 0x80;
  const view = new DataView(block.buffer);
  const lanes = Array.from({ length: 25 }, (_, index) => view.getBigUint64(index * 8, true));
  permuteLanes(lanes);
  for (const [index, lane] of lanes.entries()) view.setBigUint64(index * 8, lane, true);
  return Array.from(block.subarray(0, 32), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keccak-f[1600], as FIPS 202 defines it. Lane (x, y) is at x + 5y, and changes in place. */
function permuteLanes(lanes: bigint[]) {
  const at = (x: number, y: number) => lanes[(x % 5) + 5 * (y % 5)] ?? 0n;
  const columns = [0, 1, 2, 3, 4];
  let register = 1;
  for (let round = 0; round < 24; round += 1) {
    // Theta: every lane takes in the parity of two columns.
    const parity = columns.map((x) => columns.reduce((sum, y) => sum ^ at(x, y), 0n));
    for (const [index, lane] of lanes.entries()) {
      const x = index % 5;
      lanes[index] = lane ^ (parity[(x + 4) % 5] ?? 0n) ^ rotateLane(parity[(x + 1) % 5] ?? 0n, 1);
    }
    // Rho and pi: lanes are rotated, and move.
    let [x, y, moved] = [1, 0, at(1, 0)];
    for (let step = 0; step < 24; step += 1) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = at(x, y);
      lanes[x + 5 * y] = rotateLane(moved, (((step + 1) * (step + 2)) / 2) % 64);
      moved = next;
    }
    // Chi: rows are mixed, the only step that is not linear.
    const before = [...lanes];
    const old = (column: number, row: number) => before[(column % 5) + 5 * row] ?? 0n;
    for (const index of lanes.keys()) {
      const [column, row] = [index % 5, Math.floor(index / 5)];
      lanes[index] = old(column, row) ^ (~old(column + 1, row) & LANE_MASK & old(column + 2, row));
    }
    // Iota: bits of a shift register, which makes the rounds differ.
    for (let power = 0; power < 7; power += 1) {
      if ((register & 1) === 1) lanes[0] = at(0, 0) ^ (1n << ((1n << BigInt(power)) - 1n));
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
  }
}

function rotateLane(lane: bigint, count: number) {
  return ((lane << BigInt(count)) | (lane >> BigInt(64 - count))) & LANE_MASK;
}
