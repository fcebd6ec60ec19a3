// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Reads many token balances of one wallet in one call, whatever the tokens do.
/// @dev Meant to be placed into an eth_call by state override; it needs no deployment and has no state.
interface IBalanceScanner {
    /// @notice A balance that is not zero.
    /// @param index Position of the token in the list that was asked for.
    /// @param balance Balance of the wallet.
    struct Holding {
        uint256 index;
        uint256 balance;
    }

    /// @notice Reads the wallet's balance of every token, as far as the gas reaches.
    /// @dev A token fails when it reverts, burns the gas it was given, or answers with less than 32 bytes; an
    /// address without code answers with nothing and so fails too. Bytes beyond 32 are ignored, as Solidity callers
    /// ignore them. Tokens from `next` on were not asked: call again
    /// with the rest of the list. `next` is 0 when not even one token could be given its gas.
    /// @param wallet Wallet to read.
    /// @param tokens Tokens to ask.
    /// @param gasPerToken Most gas that one token may use.
    /// @return holdings Balances that are not zero, in list order.
    /// @return failed Positions of the tokens that failed, in list order.
    /// @return next Position of the first token that was not asked; the length of the list when all were.
    function scan(
        address wallet,
        address[] calldata tokens,
        uint256 gasPerToken
    ) external view returns (Holding[] memory holdings, uint256[] memory failed, uint256 next);
}
