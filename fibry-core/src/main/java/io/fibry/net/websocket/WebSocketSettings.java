package io.fibry.net.websocket;

import io.fibry.net.WebSocketOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The values of {@link WebSocketOptions}.
 *
 * @param idleLimit how long a client may send nothing while its handler reads
 * @param maxMessage max bytes of a message that is read
 * @param maxFrame max bytes of a frame that is read
 * @param maxUnsent max unsent bytes of the actor
 * @param origins the pages that may connect; empty if only pages of the same host may
 * @param subprotocols the subprotocols that the server speaks
 */
public record WebSocketSettings(Duration idleLimit, int maxMessage, int maxFrame, int maxUnsent,
    Optional<List<String>> origins, List<String> subprotocols) {}
