// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Reads what many spenders may take of many tokens in one call, whatever the tokens do.
/// @dev Meant to be placed into an eth_call by state override; it needs no deployment and has no state.
interface IAllowanceScanner {
    /// @notice A view that is read once for each of its spenders.
    /// @param target Contract to call: a token, a collection, or Permit2.
    /// @param gasMax Most gas that all reads of this query may use in one call.
    /// @param prefix Selector and arguments before the spender, which is the last argument.
    struct Query {
        address target;
        uint256 gasMax;
        bytes prefix;
    }

    /// @notice What to read.
    /// @param queries Views to read.
    /// @param spenders Accounts to read them for.
    /// @param pairs Four bytes each: the position of the query, then that of the spender. Pairs of one query are
    /// neighbours.
    /// @param gasPerRead Most gas that one read may use.
    struct Request {
        Query[] queries;
        address[] spenders;
        bytes pairs;
        uint256 gasPerRead;
    }

    /// @notice A result whose first word is not zero.
    /// @param index Position of the pair in the list that was asked for.
    /// @param value First word: an allowance, or 1 for an operator.
    /// @param extra Second word, such as an expiry; 0 for a permission without one.
    struct Finding {
        uint256 index;
        uint256 value;
        uint256 extra;
    }

    /// @notice Reads every pair of a query and a spender, as far as the gas reaches.
    /// @dev A pair fails when its call reverts, burns the gas it was given, returns less than 32 bytes, or when the
    /// pairs of the same query before it have used up the gas of the query. Bytes beyond 64 are ignored.
    /// Pairs from `next` on were not read: call again with the rest. `next` is 0 when not even one pair could be given
    /// its gas. A pair with an unknown query or spender reverts.
    /// @param request What to read.
    /// @return findings Results that are not zero, in the order of the pairs.
    /// @return failed Positions of the pairs that failed, in the order of the pairs.
    /// @return next Position of the first pair that was not read; the number of pairs when all were.
    function scan(
        Request calldata request
    ) external view returns (Finding[] memory findings, uint256[] memory failed, uint256 next);
}
