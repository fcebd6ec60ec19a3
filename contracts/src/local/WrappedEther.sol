// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Native coin as a token, for local chains: one wrapped unit is always backed by one native unit held here.
contract WrappedEther is ERC20 {
    /// @notice Native coin was wrapped.
    /// @param dst Who received the tokens.
    /// @param wad Amount in smallest units.
    event Deposit(address indexed dst, uint256 wad);

    /// @notice Tokens were unwrapped.
    /// @param src Who gave the tokens.
    /// @param wad Amount in smallest units.
    event Withdrawal(address indexed src, uint256 wad);

    /// @notice The caller refused the native coin.
    /// @param recipient Who refused it.
    /// @param amount Amount in smallest units.
    error NativeTransferFailed(address recipient, uint256 amount);

    constructor() ERC20("Wrapped Ether", "WETH") {}

    /// @notice Wraps the value sent, as {deposit} does.
    receive() external payable {
        deposit();
    }

    /// @notice Unwraps tokens of the caller.
    /// @param amount Amount in smallest units.
    function withdraw(uint256 amount) external {
        _burn(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
        (bool paid, ) = msg.sender.call{value: amount}("");
        if (!paid) revert NativeTransferFailed(msg.sender, amount);
    }

    /// @notice Wraps the value sent for the caller.
    function deposit() public payable {
        _mint(msg.sender, msg.value);
        emit Deposit(msg.sender, msg.value);
    }
}
