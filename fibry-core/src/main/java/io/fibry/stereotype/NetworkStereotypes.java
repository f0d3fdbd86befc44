package io.fibry.stereotype;

import io.fibry.ActorBuilder;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.io.Downloader;
import io.fibry.net.HttpExchange;
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

/** Recipes of {@code Stereotypes} for the network. */
@SuppressWarnings("exports") // nullness annotations
abstract class NetworkStereotypes {
  final ActorBuilder<?> builder;

  NetworkStereotypes(ActorBuilder<?> builder) {
    this.builder = builder;
  }

  /**
   * Opens an HTTP server that responds to every path with a text.
   *
   * @param port on the loopback address; 0 for any free port
   * @param handler returns the text; runs in the actor of the connection, and may block
   * @return the listening server
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, Handler.Returning<HttpExchange, String> handler) {
    return embeddedHttpServer(port, HttpRoutes.none().text("/{any...}", handler));
  }

  /**
   * Opens an HTTP server that responds to each path by its route.
   *
   * @param port on the loopback address; 0 for any free port
   * @param routes the handlers by path
   * @return the listening server
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, HttpRoutes routes) {
    return embeddedHttpServer(port, routes, UnaryOperator.identity());
  }

  /**
   * Opens an HTTP server with options.
   *
   * @param port 0 for any free port
   * @param routes the handlers by path
   * @param options gets the defaults, and returns the options to use, such as limits and address
   * @return the listening server
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    return HttpServer.open(builder, port, routes, options);
  }

  /**
   * Opens a TCP port, and handles each client in an actor of its own.
   *
   * @param port on the loopback address; 0 for any free port
   * @param handler handles one connection, which is closed when the handler returns
   * @return the listening acceptor
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptor(int port, Handler<TcpConnection> handler) {
    return tcpAcceptor(port, handler, UnaryOperator.identity());
  }

  /**
   * Opens a TCP acceptor with options.
   *
   * @param port 0 for any free port
   * @param handler handles one connection, which is closed when the handler returns
   * @param options gets the defaults, and returns the options to use, such as limits and address
   * @return the listening acceptor
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptor(int port, Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(builder, port, handler, options);
  }

  /**
   * Opens a TCP acceptor that counts the failures of its handlers without logging them.
   *
   * @param port 0 for any free port
   * @param handler handles one connection, which is closed when the handler returns
   * @param options gets the default options, and returns the options to use; null for the defaults
   * @return the listening acceptor
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptorSilent(int port, Handler<TcpConnection> handler,
      @Nullable UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(builder.onFailure(FailurePolicy.resume().withoutLog()), port, handler,
        Objects.requireNonNullElse(options, UnaryOperator.identity()));
  }

  /**
   * Opens a TCP port, connects to a server for each client, and forwards the bytes in both
   * directions.
   *
   * @param port 0 for any free port
   * @param target the address of the server
   * @param options gets the defaults, and returns the options to use, such as limits and address
   * @return the listening acceptor
   * @see TcpAcceptor#forward
   */
  public TcpAcceptor tcpForwarder(int port, InetSocketAddress target, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.forward(builder, port, target, options);
  }

  /**
   * Opens a UDP port, and handles its packets in an actor.
   *
   * @param port on the loopback address; 0 for any free port
   * @param handler called with each packet
   * @return the receiving server
   * @see UdpServer#open
   */
  public UdpServer udpServer(int port, Handler<UdpPacket> handler) {
    Objects.requireNonNull(handler, "handler");
    return UdpServer.open(builder, port, (server, packet) -> handler.handle(packet), UnaryOperator.identity());
  }

  /**
   * Opens a UDP server with options. Its handler also gets the server, with which it can reply.
   *
   * @param port 0 for any free port
   * @param handler called with the server and each packet
   * @param options gets the defaults, and returns the options to use, such as limits, address and
   * multicast group
   * @return the receiving server
   * @see UdpServer#open
   */
  public UdpServer udpServer(int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<UdpServer.Options> options) {
    return UdpServer.open(builder, port, handler, options);
  }

  /**
   * Makes a downloader with default limits, which retries failed downloads.
   *
   * @return the downloader
   * @see Downloader#open
   */
  public Downloader downloader() {
    return downloader(UnaryOperator.identity());
  }

  /**
   * Makes a downloader with options.
   *
   * @param options gets the defaults, and returns the options to use, such as limits
   * @return the downloader
   * @see Downloader#open
   */
  public Downloader downloader(UnaryOperator<Downloader.Options> options) {
    return Downloader.open(builder, options);
  }
}
