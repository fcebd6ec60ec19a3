// An exposure for people: what is at risk, then each permission with its holder, limit and reasons.
import type { Exposure } from "@sextant/client/sextant";
import type { Display } from "./display.ts";
import { formatDollars, formatLabel, formatWarnings } from "./receipt.ts";
import { formatValue } from "./record.ts";
import { formatSection } from "./table.ts";

export function formatExposure(exposure: Exposure, display: Display): readonly string[] {
  const { address, timestamp, provider, summary } = exposure;
  const label = (name: string) => formatLabel(name, display);
  const risk = display.style("bold", formatRisk(summary));
  const permissions =
    summary.permissionCount === 1 ? "1 permission" : `${summary.permissionCount} permissions`;
  const counts = `${permissions}, ${summary.unlimitedCount} unlimited, ${summary.unknownSpenderCount} of unknown spenders`;
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
  const rows = summary.chains.map((own) => [own.chain, String(own.permissionCount), formatRisk(own)]);
  return formatSection("Chains", columns, rows, display);
}

/** A minimum if something has no known value. */
function formatRisk({
  valueAtRiskUsd,
  partial,
}: Pick<Exposure["summary"], "valueAtRiskUsd" | "partial">): string {
  const risk = formatDollars(valueAtRiskUsd);
  return partial && valueAtRiskUsd !== null ? `at least ${risk}` : risk;
}

/** Unknown values first, then the most at risk, as the service lists them. */
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
    permission.symbol ?? permission.protocol ?? permission.contract,
    permission.chain,
    formatAllowance(permission),
    formatRisk(permission),
    permission.reasons.join(", "),
    permission.kind,
  ]);
  return formatSection("Permissions", columns, rows, display);
}

/** A dash if the permission has no amount, as for a delegate or an operator of a collection. */
function formatAllowance(permission: Exposure["permissions"][number]): string {
  const { unlimited, allowance, rawAllowance } = permission;
  if (unlimited) return "unlimited";
  return allowance ?? (rawAllowance === null ? "–" : `${rawAllowance} units`);
}
