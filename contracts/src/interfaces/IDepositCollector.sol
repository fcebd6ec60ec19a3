// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Moves a deposit from its payer to the channels, by the kind of permission that the payer gave.
interface IDepositCollector {
    /// @notice Somebody other than the channels called.
    error OnlyX402BatchSettlement();

    /// @notice Moves exactly this amount to the channels, or reverts; the channels only.
    /// @param payer Account that pays.
    /// @param token Token to move.
    /// @param amount Amount to move.
    /// @param channelId Channel that the payer's permission must name.
    /// @param collectorData Permission of the payer; each collector has its own format.
    function collect(
        address payer,
        address token,
        uint256 amount,
        bytes32 channelId,
        bytes calldata collectorData
    ) external;

    /// @notice Contract that may call and receives the tokens.
    /// @return Its address.
    // solhint-disable-next-line func-name-mixedcase
    function x402BatchSettlement() external view returns (address);
}
