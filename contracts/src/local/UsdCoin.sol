// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Dollar token for local chains, with the signed transfers (EIP-3009) and permits (EIP-2612) of the real one.
/// @dev Wherever a bytes signature is taken, a contract account may answer for it by ERC-1271.
contract UsdCoin is ERC20, Ownable, EIP712, Nonces, IERC20Permit {
    /// @notice Type hash of a transfer authorization.
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH =
        keccak256(
            "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );

    /// @notice Type hash of a transfer authorization that only its payee may use.
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH =
        keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );

    /// @notice Type hash of a cancellation.
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    /// @notice Type hash of a permit.
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// @notice Accounts that may create tokens besides the owner.
    mapping(address account => bool) public isMinter;

    mapping(address authorizer => mapping(bytes32 nonce => bool)) private _usedAuthorizations;

    /// @notice A minter was added or removed.
    /// @param account Account concerned.
    /// @param allowed Whether it may create tokens.
    event MinterUpdated(address indexed account, bool allowed);

    /// @notice An authorization was used.
    /// @param authorizer Account that signed it.
    /// @param nonce Its nonce.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    /// @notice An authorization was cancelled before its use.
    /// @param authorizer Account that signed it.
    /// @param nonce Its nonce.
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    /// @notice The caller may not create tokens.
    /// @param caller Account that tried.
    error NotMinter(address caller);

    /// @notice The authorization is not valid yet.
    /// @param validAfter Second after which it is.
    error AuthorizationNotYetValid(uint256 validAfter);

    /// @notice The authorization is no longer valid.
    /// @param validBefore Second before which it was.
    error AuthorizationExpired(uint256 validBefore);

    /// @notice The authorization was used or cancelled before.
    /// @param authorizer Account that signed it.
    /// @param nonce Its nonce.
    error AuthorizationUsedOrCanceled(address authorizer, bytes32 nonce);

    /// @notice The signature is not that of the account it is given for.
    /// @param account Account that had to sign.
    error InvalidSignature(address account);

    /// @notice The caller is not the payee.
    /// @param caller Account that tried.
    /// @param payee Account that may.
    error CallerNotPayee(address caller, address payee);

    /// @notice The permit is no longer valid.
    /// @param deadline Last second at which it was.
    error PermitExpired(uint256 deadline);

    constructor() ERC20("USD Coin", "USDC") Ownable(msg.sender) EIP712("USD Coin", "2") {}

    /// @notice Adds or removes a minter; owner only.
    /// @param account Account concerned.
    /// @param allowed Whether it may create tokens.
    function setMinter(address account, bool allowed) external onlyOwner {
        isMinter[account] = allowed;
        emit MinterUpdated(account, allowed);
    }

    /// @notice Creates tokens; owner or minter only.
    /// @param to Who receives them.
    /// @param amount How many millionths of a dollar.
    function mint(address to, uint256 amount) external {
        if (msg.sender != owner() && !isMinter[msg.sender]) revert NotMinter(msg.sender);
        _mint(to, amount);
    }

    /// @notice Carries out a transfer that its payer signed; anyone may relay it.
    /// @param from Payer.
    /// @param to Payee.
    /// @param value Amount.
    /// @param validAfter Second after which the authorization is valid.
    /// @param validBefore Second before which it is valid.
    /// @param nonce Any 32 bytes the payer has not used before.
    /// @param v Recovery id of the signature.
    /// @param r First half of the signature.
    /// @param s Second half of the signature.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Carries out a transfer that its payer signed for the payee; the payee only.
    /// @param from Payer.
    /// @param to Payee.
    /// @param value Amount.
    /// @param validAfter Second after which the authorization is valid.
    /// @param validBefore Second before which it is valid.
    /// @param nonce Any 32 bytes the payer has not used before.
    /// @param v Recovery id of the signature.
    /// @param r First half of the signature.
    /// @param s Second half of the signature.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Makes an authorization unusable; its signer signs the cancellation and anyone may relay it.
    /// @param authorizer Account that signed the authorization.
    /// @param nonce Nonce of the authorization.
    /// @param v Recovery id of the signature.
    /// @param r First half of the signature.
    /// @param s Second half of the signature.
    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    /// @inheritdoc IERC20Permit
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        permit(owner, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    /// @notice Whether an authorization was used or cancelled.
    /// @param authorizer Account that signed it.
    /// @param nonce Its nonce.
    /// @return Whether it was.
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return _usedAuthorizations[authorizer][nonce];
    }

    /// @inheritdoc IERC20Permit
    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @notice Version of the EIP-712 domain.
    /// @return The version.
    function version() external view returns (string memory) {
        return _EIP712Version();
    }

    /// @notice Carries out a transfer that its payer signed; anyone may relay it.
    /// @param from Payer.
    /// @param to Payee.
    /// @param value Amount.
    /// @param validAfter Second after which the authorization is valid.
    /// @param validBefore Second before which it is valid.
    /// @param nonce Any 32 bytes the payer has not used before.
    /// @param signature Signature of the payer.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        bytes32 structHash = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _useAuthorization(from, validAfter, validBefore, nonce, structHash, signature);
        _transfer(from, to, value);
    }

    /// @notice Carries out a transfer that its payer signed for the payee; the payee only.
    /// @param from Payer.
    /// @param to Payee.
    /// @param value Amount.
    /// @param validAfter Second after which the authorization is valid.
    /// @param validBefore Second before which it is valid.
    /// @param nonce Any 32 bytes the payer has not used before.
    /// @param signature Signature of the payer.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        if (msg.sender != to) revert CallerNotPayee(msg.sender, to);
        bytes32 structHash = keccak256(
            abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _useAuthorization(from, validAfter, validBefore, nonce, structHash, signature);
        _transfer(from, to, value);
    }

    /// @notice Makes an authorization unusable; its signer signs the cancellation and anyone may relay it.
    /// @param authorizer Account that signed the authorization.
    /// @param nonce Nonce of the authorization.
    /// @param signature Signature of that account.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public {
        if (_usedAuthorizations[authorizer][nonce]) revert AuthorizationUsedOrCanceled(authorizer, nonce);
        _requireSignature(
            authorizer,
            keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)),
            signature
        );
        _usedAuthorizations[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// @notice Sets an allowance that its owner signed; anyone may relay it.
    /// @param owner Account whose tokens may be spent.
    /// @param spender Account that may spend them.
    /// @param value Allowance.
    /// @param deadline Last second at which the permit is valid.
    /// @param signature Signature of the owner over the owner's next nonce.
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature) public {
        if (block.timestamp > deadline) revert PermitExpired(deadline);
        _requireSignature(
            owner,
            keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, _useNonce(owner), deadline)),
            signature
        );
        _approve(owner, spender, value);
    }

    /// @inheritdoc IERC20Permit
    function nonces(address owner) public view override(IERC20Permit, Nonces) returns (uint256) {
        return super.nonces(owner);
    }

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function _useAuthorization(
        address authorizer,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes32 structHash,
        bytes memory signature
    ) private {
        if (block.timestamp <= validAfter) revert AuthorizationNotYetValid(validAfter);
        if (block.timestamp >= validBefore) revert AuthorizationExpired(validBefore);
        if (_usedAuthorizations[authorizer][nonce]) revert AuthorizationUsedOrCanceled(authorizer, nonce);
        _requireSignature(authorizer, structHash, signature);
        _usedAuthorizations[authorizer][nonce] = true;
        emit AuthorizationUsed(authorizer, nonce);
    }

    function _requireSignature(address account, bytes32 structHash, bytes memory signature) private view {
        if (!SignatureChecker.isValidSignatureNow(account, _hashTypedDataV4(structHash), signature)) {
            revert InvalidSignature(account);
        }
    }
}
