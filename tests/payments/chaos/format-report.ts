// What the money test found, for people: green where a rule holds, red where it does not.
import type { PaymentsChaosReport } from "./run-payments-chaos.ts";

// More examples of the same would not say more.
const EXAMPLES_MAX = 5;

export function formatChaosReport({ findings, numbers }: PaymentsChaosReport): string {
  const lines = findings.flatMap(({ rule, checked, violations: broken }) => {
    const mark = broken.length === 0 ? "\u001b[32mholds \u001b[0m" : "\u001b[31mbroken\u001b[0m";
    const count = broken.length === 0 ? `${checked}` : `${broken.length} of ${checked}`;
    const examples = broken.slice(0, EXAMPLES_MAX).map((each) => `           ${each}`);
    return [`  ${mark} ${rule} (${count})`, ...examples];
  });
  const facts = Object.entries(numbers).map(([name, value]) => `  ${name.padEnd(32)} ${value}`);
  return `${[...lines, "", ...facts].join("\n")}\n`;
}
