// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Token that accepts every call and answers with nothing.
contract SilentToken {
    fallback() external payable {}

    receive() external payable {}
}
