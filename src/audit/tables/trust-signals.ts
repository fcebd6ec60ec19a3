// Trust signals must be what the commerce registry says of them, and their counts must add up.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { signalCounts, subjectSignalCounts, trustSignals } from "../../protocol/domains/trust-signals.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { createdBy, defineTableAudit, recountAudit, viewCheck } from "./define-audit.ts";

const registry = { contract: "CommerceRegistry", abi } as const;

export const trustSignalsAudit = defineTableAudit(trustSignals, {
  ids: "signal_id",
  births: [
    createdBy(trustSignals, registry, "TrustSignalRecorded", ({ args }) => ({ signal_id: args.signalId })),
  ],
  views: [
    viewCheck(trustSignals, registry, "getTrustSignal", {
      args: ({ signal_id }) => [signal_id],
      unknown: ({ reporter }) => reporter === ZERO_ADDRESS,
      columns: {
        subject_type: ({ subjectType }) => subjectType,
        subject_id: ({ subjectId }) => subjectId,
        kind: ({ kind }) => kind,
        reporter: ({ reporter }) => reporter,
        signal_hash: ({ signalHash }) => signalHash,
      },
    }),
  ],
});

export const signalCountsAudit = recountAudit(
  signalCounts,
  [trustSignals],
  "select kind, count(*) as signals from trust_signals group by kind",
);

export const subjectSignalCountsAudit = recountAudit(
  subjectSignalCounts,
  [trustSignals],
  `select subject_type, subject_id, kind, count(*) as signals
   from trust_signals group by subject_type, subject_id, kind`,
);
