// The SQL that names the deployment whose index a statement reads.

/** Tells whose index a statement has read, in a few bytes; `d` is the row of the deployment. */
export const DEPLOYMENT_FINGERPRINT =
  "encode(substring(sha256(convert_to(jsonb_build_array(d.chain_id, d.start_block, d.contracts)::text, 'UTF8')) from 1 for 8), 'hex')";
