package io.fibry.net.http;

import io.fibry.Handler;
import io.fibry.net.AccessLogEntry;
import io.fibry.net.HttpOptions;
import io.fibry.net.HttpOptions.RequestStart;
import io.fibry.net.socket.ListenerLimits;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLEngine;

/**
 * The values of {@link HttpOptions}.
 *
 * @param limits the limits of the listener
 * @param headerLimit how long the head of a request may take
 * @param bodyLimit how long a client may take to send a body
 * @param maxBody max bytes of a body
 * @param maxHeaders max bytes of all headers of a request
 * @param maxUri max bytes of the path with its query
 * @param maxExchanges how many handlers may be at work
 * @param maxFields max fields of a form
 * @param hosts the names by which clients may call the server
 * @param proxies the proxies that may name their clients
 * @param engines makes an engine of TLS for each connection; empty without TLS
 * @param accessLog called with each exchange that is over or has become a WebSocket
 * @param responseHeaders returns the headers that the response to a request has in any case
 */
public record HttpSettings(ListenerLimits limits, Duration headerLimit, Duration bodyLimit, long maxBody,
    int maxHeaders,
    int maxUri, int maxExchanges, int maxFields, HostNames hosts, TrustedProxies proxies,
    Optional<Supplier<SSLEngine>> engines,
    Optional<Consumer<AccessLogEntry>> accessLog,
    Optional<Handler.Returning<RequestStart, Map<String, String>>> responseHeaders) {

  /**
   * Returns the sender of a request.
   *
   * @param peer the address at the other end of the connection
   * @param header returns the value of a header of the request, by its name in lower case, or null
   */
  TrustedProxies.Origin originOf(InetSocketAddress peer, UnaryOperator<String> header) {
    return proxies.originOf(peer, engines.isPresent(), header);
  }
}
