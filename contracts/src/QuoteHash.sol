// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ICommerceRegistry} from "./interfaces/ICommerceRegistry.sol";

/// @title The identity of a quote: one hash over its terms, its fee, its registry and its chain.
library QuoteHash {
    uint256 private constant BPS_WHOLE = 10_000;

    /// @notice Identity of a quote in the registry that asks.
    /// @param quote Terms of the quote.
    /// @param feeBps Protocol fee rate in hundredths of a percent.
    /// @return Its hash.
    function hashOf(
        ICommerceRegistry.QuoteCommitment memory quote,
        uint16 feeBps
    ) internal view returns (bytes32) {
        bytes32 serviceTerms = keccak256(
            abi.encode(quote.merchantId, quote.serviceNumericId, quote.resourceHash, quote.termsHash)
        );
        bytes32 paymentTerms = keccak256(
            abi.encode(
                quote.agent,
                quote.token,
                quote.facilitator,
                quote.amount,
                quote.paymentRail,
                quote.expiresAt,
                quote.paymentNonce,
                quote.x402PayloadHash
            )
        );
        uint256 feeAmount = feeOn(quote.amount, feeBps);
        return keccak256(abi.encode(block.chainid, address(this), serviceTerms, paymentTerms, feeBps, feeAmount));
    }

    /// @notice Protocol fee contained in an amount, rounded down.
    /// @param amount Amount to be paid.
    /// @param feeBps Protocol fee rate in hundredths of a percent.
    /// @return The fee.
    function feeOn(uint256 amount, uint16 feeBps) internal pure returns (uint256) {
        return (amount * feeBps) / BPS_WHOLE;
    }
}
