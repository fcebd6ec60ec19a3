// The paid responses as the page reads them, which the tab may have kept from an older service.
import type { PortfolioDiff, ValueChange } from "../../schema/portfolio/diff.ts";
import type { Exposure, ExposurePermission, Revocation } from "../../schema/portfolio/exposure.ts";
import type {
  ChainSummary,
  LendingHealth,
  PortfolioAccount,
  PortfolioPosition,
  PortfolioSnapshot,
  PortfolioToken,
  RecentActivity,
} from "../../schema/portfolio/snapshot.ts";

export type { ChainSummary, Exposure, Revocation, ValueChange };
export type Token = PortfolioToken;
export type Position = PortfolioPosition;
export type Activity = RecentActivity;
export type Account = PortfolioAccount;
export type Loan = LendingHealth;
export type Permission = ExposurePermission;
export type Difference = PortfolioDiff;

/** What every paid response has; each side of a difference has a time of its own. */
export type PaidBody = { readonly address: string; readonly timestamp?: string };

type Added = "name" | "accounts" | "health" | "gas";
/** Older services sold snapshots without these. */
export type Snapshot = Omit<PortfolioSnapshot, Added> & Partial<Pick<PortfolioSnapshot, Added>>;
