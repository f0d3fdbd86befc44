/**
 * The network as actors: TCP and HTTP servers with an actor for each connection, a UDP server with
 * one for its packets. Everything has a limit, and listens on the loopback address unless changed.
 */
package io.fibry.net;
