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

/** The recipes of {@code Stereotypes} for the network. */
@SuppressWarnings("exports") // nullness annotations
abstract class NetworkStereotypes {
  final ActorBuilder<?> builder;

  NetworkStereotypes(ActorBuilder<?> how) {
    this.builder = how;
  }

  /**
   * Answers every path with a text.
   *
   * @param port on the loopback address; 0 for any free port
   * @param handler returns the text, in the connection's actor; may block
   * @return the server, listening
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, Handler.Returning<HttpExchange, String> handler) {
    return embeddedHttpServer(port, HttpRoutes.none().text("/{any...}", handler));
  }

  /**
   * Answers each path by its route.
   *
   * @param port on the loopback address; 0 for any free port
   * @param routes by path
   * @return the server, listening
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, HttpRoutes routes) {
    return embeddedHttpServer(port, routes, same -> same);
  }

  /**
   * Opens an HTTP server with options.
   *
   * @param port 0 for any free port
   * @param routes by path
   * @param options limits and address
   * @return the server, listening
   * @see HttpServer#open
   */
  public HttpServer embeddedHttpServer(int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    return HttpServer.open(builder, port, routes, options);
  }

  /**
   * Handles each client of a TCP port on an actor of its own.
   *
   * @param port on the loopback address; 0 for any free port
   * @param handler returns to close the connection
   * @return the acceptor, listening
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptor(int port, Handler<TcpConnection> handler) {
    return tcpAcceptor(port, handler, same -> same);
  }

  /**
   * Opens a TCP acceptor with options.
   *
   * @param port 0 for any free port
   * @param handler returns to close the connection
   * @param options limits and address
   * @return the acceptor, listening
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptor(int port, Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(builder, port, handler, options);
  }

  /**
   * Opens a TCP acceptor that counts the failures of its handlers without logging them.
   *
   * @param port 0 for any free port
   * @param handler returns to close the connection
   * @param options sets limits and address, or is null for the defaults
   * @return the acceptor, listening
   * @see TcpAcceptor#open
   */
  public TcpAcceptor tcpAcceptorSilent(int port, Handler<TcpConnection> handler,
      @Nullable UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(builder.onFailure(FailurePolicy.resume().withoutLog()), port, handler,
        Objects.requireNonNullElse(options, same -> same));
  }

  /**
   * Forwards each client of a TCP port, in both directions.
   *
   * @param port 0 for any free port
   * @param target the server for the clients
   * @param options limits and address
   * @return the acceptor, listening
   * @see TcpAcceptor#forward
   */
  public TcpAcceptor tcpForwarder(int port, InetSocketAddress target, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.forward(builder, port, target, options);
  }

  /**
   * Handles the packets of a UDP port in an actor.
   *
   * @param port on the loopback address; 0 for any free port
   * @param handler takes each packet
   * @return the server, receiving
   * @see UdpServer#open
   */
  public UdpServer udpServer(int port, Handler<UdpPacket> handler) {
    Objects.requireNonNull(handler, "handler");
    return UdpServer.open(builder, port, (server, packet) -> handler.handle(packet), same -> same);
  }

  /**
   * Opens a UDP server with options, whose handler also gets the server, to answer.
   *
   * @param port 0 for any free port
   * @param handler takes the server and each packet
   * @param options limits, address, group
   * @return the server, receiving
   * @see UdpServer#open
   */
  public UdpServer udpServer(int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<UdpServer.Options> options) {
    return UdpServer.open(builder, port, handler, options);
  }

  /**
   * Downloads, with retries and limits.
   *
   * @return the downloader
   * @see Downloader#open
   */
  public Downloader downloader() {
    return downloader(same -> same);
  }

  /**
   * Makes a downloader with options.
   *
   * @param options limits
   * @return the downloader
   * @see Downloader#open
   */
  public Downloader downloader(UnaryOperator<Downloader.Options> options) {
    return Downloader.open(builder, options);
  }
}
