// The commerce rollups must be what merchants, quotes, receipts and disputes add up to.

import {
  commerceTotals,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  tokenVolumes,
} from "../../protocol/domains/commerce-totals.ts";
import { disputes } from "../../protocol/domains/disputes.ts";
import { facilitators } from "../../protocol/domains/facilitators.ts";
import { merchants } from "../../protocol/domains/merchants.ts";
import { quotes } from "../../protocol/domains/quotes.ts";
import { receipts } from "../../protocol/domains/receipts.ts";
import { services } from "../../protocol/domains/services.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { recountAudit } from "./define-audit.ts";

const VOLUME =
  "count(*) as receipts, sum(amount) as settled_volume, sum(protocol_fee_amount) as protocol_fees";
const DISPUTES = `count(*) as disputes,
  count(*) filter (where status = 'OPEN') as open_disputes,
  count(*) filter (where status = 'RESOLVED') as resolved_disputes,
  count(*) filter (where status = 'REJECTED') as rejected_disputes`;

export const commerceTotalsAudit = recountAudit(
  commerceTotals,
  [merchants, services, facilitators, quotes, receipts, disputes],
  `select 'all' as scope, m.*, s.*, f.*, q.*, r.*, d.*
   from (select count(*) as merchants, count(*) filter (where active) as active_merchants from merchants) m,
     (select count(*) as services, count(*) filter (where active) as active_services from services) s,
     (select count(*) as facilitators, count(*) filter (where active) as active_facilitators from facilitators) f,
     (select count(*) as quotes, count(*) filter (where settled) as settled_quotes, sum(amount) as quoted_volume,
        sum(protocol_fee_amount) as quoted_protocol_fees from quotes) q,
     (select count(*) as receipts, sum(amount) as settled_volume,
        sum(protocol_fee_amount) as settled_protocol_fees from receipts) r,
     (select ${DISPUTES} from disputes) d`,
);

export const tokenVolumesAudit = recountAudit(
  tokenVolumes,
  [receipts],
  `select token, ${VOLUME} from receipts group by token`,
);

export const railVolumesAudit = recountAudit(
  railVolumes,
  [receipts],
  `select payment_rail, ${VOLUME} from receipts group by payment_rail`,
);

export const facilitatorVolumesAudit = recountAudit(
  facilitatorVolumes,
  [receipts],
  `select facilitator, ${VOLUME} from receipts where facilitator <> '${ZERO_ADDRESS}' group by facilitator`,
);

export const serviceVolumesAudit = recountAudit(
  serviceVolumes,
  [receipts],
  `select service_numeric_id, ${VOLUME} from receipts group by service_numeric_id`,
);

// A dispute is always about a receipt of the same merchant, so every merchant of the second part is in the first.
export const merchantRecordsAudit = recountAudit(
  merchantRecords,
  [receipts, disputes],
  `select * from (select merchant_id, ${VOLUME}, count(fulfillment_hash) as fulfilled_receipts
     from receipts group by merchant_id) r
   left join (select merchant_id, ${DISPUTES} from disputes group by merchant_id) d using (merchant_id)`,
);
