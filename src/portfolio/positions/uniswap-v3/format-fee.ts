// A pool's fee for people.

/** Millionths as an exact percentage. */
export function formatFee(fee: number): string {
  const digits = fee.toString().padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, "");
}
