package io.fibry.net.tcp;

import io.fibry.net.TcpOptions;
import io.fibry.net.socket.ListenerLimits;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;

/**
 * The values of {@link TcpOptions}.
 *
 * @param limits the limits of the listener
 * @param maxFrame max bytes of a line or frame that is read
 * @param maxUnsent max unsent bytes of each actor of a connection
 * @param engines makes an engine of TLS for each connection; empty without TLS
 */
public record TcpSettings(ListenerLimits limits, int maxFrame, int maxUnsent, Optional<Supplier<SSLEngine>> engines) {}
