// An exposure for people: what is at risk, then each permission with its holder, limit and reasons.
import type { Exposure } from "@sextant/client/sextant";
import type { Display } from "./display.ts";
import { formatLabel, formatUsd, formatWarnings } from "./receipt.ts";
import { formatValue } from "./record.ts";
import { formatSection } from "./table.ts";

export function formatExposure(exposure: Exposure, display: Display): readonly string[] {
  const { address, timestamp, provider, summary } = exposure;
  const label = (name: string) => formatLabel(name, display);
  const risk = display.style("bold", formatUsd(summary.valueAtRiskUsd));
  const counts = `${summary.permissionCount} permissions, ${summary.unlimitedCount} unlimited, ${summary.unknownSpenderCount} of unknown spenders`;
  return [
    `${label("Wallet")}  ${formatValue(address)}`,
    `${label("At risk")}  ${risk}   ${formatValue(counts)}`,
    `${label("Taken")}  ${formatValue(timestamp)} by ${formatValue(provider)}`,
    ...formatChains(exposure, display),
    ...formatPermissions(exposure, display),
    ...formatWarnings(summary.warnings, display),
  ];
}

function formatChains({ summary }: Exposure, display: Display): string[] {
  const columns = [
    { title: "chain" },
    { title: "permissions", align: "right" },
    { title: "at risk", align: "right", isWhole: true },
  ] as const;
  const rows = summary.chains.map(({ chain, permissionCount, valueAtRiskUsd }) => [
    chain,
    String(permissionCount),
    formatUsd(valueAtRiskUsd),
  ]);
  return formatSection("Chains", columns, rows, display);
}

/** The most at risk first, as the service lists them. */
function formatPermissions({ permissions }: Exposure, display: Display): string[] {
  const columns = [
    { title: "spender" },
    { title: "token" },
    { title: "chain" },
    { title: "allowance", align: "right" },
    { title: "at risk", align: "right", isWhole: true },
    { title: "reasons" },
    { title: "kind" },
  ] as const;
  const rows = permissions.map((permission) => [
    permission.spenderName ?? permission.spender,
    permission.symbol ?? permission.contract,
    permission.chain,
    formatAllowance(permission),
    formatUsd(permission.valueAtRiskUsd),
    permission.reasons.join(", "),
    permission.kind,
  ]);
  return formatSection("Permissions", columns, rows, display);
}

/** A dash where it is no amount, as for a delegate or an operator of a collection. */
function formatAllowance(permission: Exposure["permissions"][number]): string {
  const { unlimited, allowance, rawAllowance } = permission;
  if (unlimited) return "unlimited";
  return allowance ?? (rawAllowance === null ? "–" : `${rawAllowance} units`);
}
