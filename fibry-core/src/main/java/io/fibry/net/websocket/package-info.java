/**
 * The WebSockets behind {@link io.fibry.net.WebSocketConnection}. Begin with
 * {@code WebSocketHandshake}, the handler of a WebSocket route. Not exported.
 */
package io.fibry.net.websocket;
