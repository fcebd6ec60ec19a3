// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Token whose balanceOf always reverts.
contract RevertingToken {
    /// @notice Name of the token.
    string public constant name = "Reverting";

    /// @notice Symbol of the token.
    string public constant symbol = "NOPE";

    /// @notice Decimals of the token.
    uint8 public constant decimals = 18;

    /// @notice What every balanceOf answers with.
    /// @param account Account that was asked for.
    error BalanceRefused(address account);

    /// @notice Always reverts.
    /// @param account Account to ask for.
    /// @return Never.
    function balanceOf(address account) external pure returns (uint256) {
        revert BalanceRefused(account);
    }
}
