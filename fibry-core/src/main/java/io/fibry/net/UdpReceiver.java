package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one UDP server. Name, mailbox, end and dead letters are those of the actor that handles the
 * packets, whose end closes the socket, which wakes a fiber of the server's own that waits for
 * packets. The fiber's actor is the root's: the user's builder may have keys, weights and code
 * around messages, which are for packets, and a scope is quiet although a server in it waits.
 */
final class UdpReceiver implements UdpServer {
  private static final Logger LOG = LoggerFactory.getLogger(UdpServer.class);
  private static final Mailbox<Object> ROOM = Mailbox.bounded(1_024, Overflow.DROP_NEWEST);
  private static final Duration GRACE = Duration.ofSeconds(1);
  private static final long FIRST_REST = 5_000_000; // nanoseconds
  private static final long LONGEST_REST = 1_000_000_000;
  private static final long SILENCE = 60_000_000_000L;

  private final UdpSockets sockets;
  private final int port;
  private final Options options;
  private final Scheduler clock;
  private final CompletableFuture<Object> ended = new CompletableFuture<>(); // by `end`
  private final AtomicLong dropped = new AtomicLong(); // written by the fiber
  private Long told; // when a failure was, null at first; the fiber's
  private final Actor<UdpPacket> handling;
  private final Actor<UdpReceiver> receiving = ActorSystem.anonymous().strategy(Strategy.FIBER)
      .mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.stop()).newActor(UdpReceiver::receive);

  @SuppressWarnings("unchecked") // what a builder may take is told to the compiler alone
  UdpReceiver(ActorBuilder<?> how, UdpSockets sockets, Handler.Stateful<UdpServer, UdpPacket> handler,
      Options options) {
    this.sockets = sockets;
    this.options = options;
    this.port = sockets.in().getLocalPort();
    this.clock = how.scheduler();
    this.handling =
        ((ActorBuilder<Object>) how).orMailbox(ROOM).newActor((UdpPacket packet) -> handler.handle(this, packet));
  }

  static UdpReceiver open(ActorBuilder<?> how, int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<Options> options) {
    Objects.requireNonNull(how, "how");
    Objects.requireNonNull(handler, "handler");
    var chosen = Objects.requireNonNull(Objects.requireNonNull(options, "options").apply(new Options()),
        "the options that were answered").checked();
    var sockets = UdpSockets.open(chosen.address, chosen.group, port);
    try {
      return new UdpReceiver(how, sockets, handler, chosen).start();
    } catch (Throwable unmade) {
      sockets.close();
      throw unmade;
    }
  }

  UdpReceiver start() {
    handling.closeOnExit(this::end);
    receiving.sendMessage(this);
    receiving.sendPoisonPill();
    return this;
  }

  // ---- the fiber

  /** Until the socket is closed. */
  private void receive() throws Exception {
    Thread.currentThread().setName("udp-" + port);
    var buffer = new byte[options.maxPacket + 1]; // one more, to see that a packet is longer
    var sources = options.rate.map(rate -> new SenderRates(clock, rate.packets(), rate.period()));
    long rest = 0;
    try {
      while (!ended.isDone()) {
        var packet = new DatagramPacket(buffer, buffer.length);
        try {
          sockets.in().receive(packet);
          rest = 0;
        } catch (IOException failure) {
          if (ended.isDone()) return;
          if (sockets.in().isClosed()) {
            LOG.error(
                "{} ends: its socket was closed below it, as by the interrupt of a fiber that waits in it to send",
                this, failure);
            return;
          }
          rest = Math.clamp(2 * rest, FIRST_REST, LONGEST_REST);
          rest(rest, failure);
          continue;
        }
        if (sources.isPresent() && !sources.get().admits(packet.getAddress()) || !handOver(packet))
          dropped.incrementAndGet();
      }
    } finally {
      handling.sendPoisonPill(); // if it is this that failed
    }
  }

  /** False if nobody takes it. */
  private boolean handOver(DatagramPacket packet) {
    int length = Math.min(packet.getLength(), options.maxPacket);
    var copy = new UdpPacket((InetSocketAddress) packet.getSocketAddress(), Arrays.copyOf(packet.getData(), length),
        packet.getLength() > length);
    try {
      return handling.sendMessage(copy);
    } catch (RuntimeException unsendable) { // a key or a weight of the user's that fails, or a ring
      LOG.error("{} could not hand over {}", this, copy, unsendable);
      return false;
    }
  }

  /** Before it tries again; over at once when the server ends. */
  private void rest(long nanos, IOException failure) throws Exception {
    if (told == null || clock.nanoTime() - told >= SILENCE) {
      told = clock.nanoTime();
      LOG.warn("{} could not receive, and tries again after a rest; this is told once a minute", this, failure);
    }
    var over = new CompletableFuture<Object>();
    var timer = clock.after(Duration.ofNanos(nanos), () -> over.complete(nanos));
    try {
      CompletableFuture.anyOf(over, ended).get();
    } finally {
      timer.cancel();
    }
  }

  // ---- sending

  @Override
  public void reply(UdpPacket packet, byte[] data) throws IOException {
    Objects.requireNonNull(data, "data");
    long most = (long) Objects.requireNonNull(packet, "packet").data().length * options.maxReply;
    if (data.length > most) throw new IllegalArgumentException("a reply of " + data.length + " bytes to " + packet
        + " may have " + most
        + ": who claims the address of another could flood him with more; have clients send longer packets, or "
        + "open the server withMaxReply(..)");
    send(packet.from(), data);
  }

  @Override
  public void send(InetSocketAddress to, byte[] data) throws IOException {
    if (Objects.requireNonNull(to, "to").isUnresolved())
      throw new IllegalArgumentException("nothing can be sent to " + to + ", a name that has no address");
    if (Objects.requireNonNull(data, "data").length > Options.LONGEST) throw new IllegalArgumentException(
        "a packet of " + data.length + " bytes is too long for a datagram; send at most " + Options.LONGEST);
    if (sockets.out().isClosed()) throw new SocketException(this + " has ended and sends nothing more");
    sockets.out().send(new DatagramPacket(data, data.length, to));
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public long dropped() {
    return dropped.get();
  }

  // ---- the end

  /** The actor's last act, so that nothing is left when its end is told. */
  private void end() {
    ended.complete(this); // before the fiber can wonder
    sockets.close();
    receiving.sendPoisonPill();
    boolean interrupted = false;
    for (boolean patient = true; true; patient = false) {
      try {
        if (patient && receiving.waitForExit(GRACE)) break;
        receiving.kill(); // its fiber is in the user's handler, by CALLER, or waits for room
        receiving.waitForExit();
        break;
      } catch (AskCycleException own) { // this is its fiber
        break;
      } catch (CancellationException interrupt) {
        interrupted = Thread.interrupted();
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  @Override
  public String name() {
    return handling.name();
  }

  @Override
  public void askExit() {
    handling.askExit();
  }

  @Override
  public void sendPoisonPill() {
    handling.sendPoisonPill();
  }

  @Override
  public void kill() {
    handling.kill();
  }

  @Override
  public void waitForExit() {
    handling.waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return handling.waitForExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return handling.onExit();
  }

  @Override
  public UdpServer closeOnExit(AutoCloseable... resources) {
    handling.closeOnExit(resources);
    return this;
  }

  @Override
  public void close() {
    handling.close();
  }

  @Override
  public String toString() {
    var at = options.group.orElse(options.address);
    return "UDP server '" + name() + "' on " + at.getHostAddress() + " port " + port;
  }
}
