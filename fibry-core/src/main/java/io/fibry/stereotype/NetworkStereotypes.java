package io.fibry.stereotype;

import io.fibry.ActorBuilder;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.io.Downloader;
import io.fibry.net.Exchange;
import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.TcpAcceptor;
import io.fibry.net.TcpConnection;
import io.fibry.net.TcpOptions;
import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The recipes of {@link Stereotypes} for the network. Immutable and thread-safe. */
@SuppressWarnings("exports") // the nullness annotations are for the compiler alone
abstract sealed class NetworkStereotypes permits Stereotypes {
  final ActorBuilder<?> how;

  NetworkStereotypes(ActorBuilder<?> how) {
    this.how = how;
  }

  /**
   * Answers every path with the text that the code returns.
   *
   * @param port where it listens, on the loopback address; 0 for any port that is free
   * @param handler runs in the connection's actor, and may block
   * @return the server, listening
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, Handler.Returning<Exchange, String> handler) {
    return embeddedHttpServer(port, HttpRoutes.none().text("/", handler));
  }

  /**
   * Answers each path as its route says.
   *
   * @param port where it listens, on the loopback address; 0 for any port that is free
   * @param routes what it does with which path
   * @return the server, listening
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, HttpRoutes routes) {
    return embeddedHttpServer(port, routes, same -> same);
  }

  /**
   * Answers each path as its route says, within limits of your own.
   *
   * @param port where it listens; 0 for any port that is free
   * @param routes what it does with which path
   * @param options changes the limits, and the address
   * @return the server, listening
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    return HttpServer.open(how, port, routes, options);
  }

  /**
   * Holds a conversation with each client of a TCP port, on an actor of its own.
   *
   * @param port where to listen, on the loopback address; 0 for any port that is free
   * @param handler talks to a client until that is over; the connection is closed when it returns
   * @return the acceptor, listening
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptor(int port, Handler<TcpConnection> handler) {
    return tcpAcceptor(port, handler, same -> same);
  }

  /**
   * The same, with limits of your own.
   *
   * @param port where to listen; 0 for any port that is free
   * @param handler talks to a client until that is over; the connection is closed when it returns
   * @param options changes the limits, and the address
   * @return the acceptor, listening
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptor(int port, Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(how, port, handler, options);
  }

  /**
   * The same; what handlers throw is counted and not logged.
   *
   * @param port where to listen; 0 for any port that is free
   * @param handler talks to a client until that is over; the connection is closed when it returns
   * @param options changes the limits, and the address; null: as they are
   * @return the acceptor, listening
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptorSilent(int port, Handler<TcpConnection> handler,
      @Nullable UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(how.onFailure(FailurePolicy.goOn().withoutLog()), port, handler,
        Objects.requireNonNullElse(options, same -> same));
  }

  /**
   * Passes on what comes in at a port, and what is answered.
   *
   * @param port where to listen; 0 for any port that is free
   * @param target where to connect each client to
   * @param options changes the limits, and the address
   * @return the acceptor, listening
   * @see TcpAcceptor#forward
   */
  public TcpAcceptor tcpForwarder(int port, InetSocketAddress target, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.forward(how, port, target, options);
  }

  /**
   * Handles the datagrams that come in at a UDP port, in an actor.
   *
   * @param port where to listen, on the loopback address; 0 for any port that is free
   * @param handler is given each packet
   * @return the server, receiving
   * @see UdpServer#open
   */
  public UdpServer udpServer(int port, Handler<UdpPacket> handler) {
    Objects.requireNonNull(handler, "handler");
    return UdpServer.open(how, port, (server, packet) -> handler.handle(packet), same -> same);
  }

  /**
   * The same, with the server in hand to answer, and with limits, an address or a group of your
   * own.
   *
   * @param port where to listen; 0 for any port that is free
   * @param handler is given the server and each packet
   * @param options changes the limits, and the address
   * @return the server, receiving
   * @see UdpServer#open
   */
  public UdpServer udpServer(int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<UdpServer.Options> options) {
    return UdpServer.open(how, port, handler, options);
  }

  /**
   * Downloads what URIs name, several at once, with retries and limits.
   *
   * @return the downloader
   * @see Downloader#open
   */
  public Downloader downloader() {
    return downloader(same -> same);
  }

  /**
   * The same, with limits of your own.
   *
   * @param options changes the limits
   * @return the downloader
   * @see Downloader#open
   */
  public Downloader downloader(UnaryOperator<Downloader.Options> options) {
    return Downloader.open(how, options);
  }
}
