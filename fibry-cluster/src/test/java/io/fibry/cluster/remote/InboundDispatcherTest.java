package io.fibry.cluster.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that one undeliverable message of a bundle does not affect the other messages, and that
 * answers are encoded when the actor answers.
 */
class InboundDispatcherTest {
  private static final Protocol<String> PROTOCOL = Protocol.of(String.class);

  private final ClusterTransport transport = MemoryNetwork.create().connect("shop", "b");
  private final LinkedBlockingQueue<WireMessage> replies = new LinkedBlockingQueue<>();
  private final LinkedBlockingQueue<String> handled = new LinkedBlockingQueue<>();
  private final Actor<String> actor = ActorSystem.anonymous().newActor((String message) -> handled.add(message));

  @AfterEach
  void close() {
    actor.close();
    transport.close();
  }

  private InboundDispatcher<String> dispatcher() {
    return dispatcher(Runnable::run);
  }

  private InboundDispatcher<String> dispatcher(Executor answerExecutor) {
    return dispatcher(PROTOCOL, answerExecutor);
  }

  private <M> InboundDispatcher<M> dispatcher(Protocol<M> protocol, Executor answerExecutor) {
    var interceptedTransport = Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("publish")) replies.add((WireMessage) arguments[0]);
      return call.pass();
    });
    return new InboundDispatcher<>(interceptedTransport, "order", "b.1", protocol, new RequestRegistry(), () -> true,
        () -> 0, BlockBuilder.of(ActorSystem.anonymous()), answerExecutor);
  }

  /** Returns a bundle of one message for each key. The key is also the text of the message. */
  private static WireMessage bundle(String... keys) {
    var tells = Stream.of(keys).map(key -> new OutboundTell(new RemoteAddress("order", Optional.of(key), false), key,
        PROTOCOL.encode(key), "")).toList();
    return new WireMessage("order", Optional.of("replies"),
        Map.of(Destination.BUNDLE_SIZE, Integer.toString(keys.length)), TellBundle.of(tells).body());
  }

  private List<TellBundle.Refusal> nextRefusals() {
    var tell = new OutboundTell(new RemoteAddress("order", Optional.empty(), false), "", new byte[0], "");
    return TellBundle.of(List.of(tell)).decodeAnswer(Patience.nextOf(replies).body()).refusals();
  }

  @Test
  void onlyMessageWhoseAddressThrowsErrorIsRefused() {
    dispatcher().deliverAll(bundle("a", "b"), (target, body) -> {
      if (PROTOCOL.decode(body).equals("a")) throw new AssertionError("a bug");
      return target;
    }, key -> Optional.of(actor));

    assertEquals("b", Patience.nextOf(handled));
    assertEquals(List.of(new TellBundle.Refusal(0, "java.lang.AssertionError: a bug")), nextRefusals());
  }

  @Test
  void receiptIsSentByAnswerExecutor() {
    var sendings = new ArrayDeque<Runnable>();

    dispatcher(sendings::add).deliverAll(bundle("a"), (target, body) -> target, key -> Optional.of(actor));

    assertEquals("a", Patience.nextOf(handled));
    assertEquals(0, replies.size());
    sendings.remove().run();
    assertEquals(List.of(), nextRefusals());
  }

  record Report() implements Request<Report, Lines> {}

  record Lines(List<String> lines) {}

  /** The actor answers, and changes the answered list, before the dispatcher gets the future. */
  @Test
  void answerIsEncodedBeforeHandlerContinues() {
    var lines = new ArrayList<>(List.of("first"));
    var isChanged = new CountDownLatch(1);
    try (Actor<Report> reporter = ActorSystem.anonymous().newActor((Report report, ActorContext<Report> context) -> {
      context.reply(report, new Lines(lines));
      lines.clear();
      isChanged.countDown();
    })) {
      @SuppressWarnings("unchecked") // the messages of the proxied actor
      Actor<Report> quickReporter = Intercepted.of(Actor.class, reporter, (method, arguments, call) -> {
        Object result = call.pass();
        if (method.getName().equals("sendMessageReturn")) Patience.await(isChanged);
        return result;
      });
      var report = new Report();

      dispatcher(Protocol.of(Report.class), Runnable::run).deliver(
          new WireMessage("order", Optional.of("replies"), Map.of(), new byte[0]), report, () -> quickReporter);

      assertEquals(List.of("first"), Protocol.decodeAnswer(report, Patience.nextOf(replies).body()).lines);
    }
  }

  @Test
  void onlyMessageWhoseActorCannotBeCreatedIsRefused() {
    dispatcher().deliverAll(bundle("a", "b", "c"), (target, body) -> target, key -> {
      if (key.equals(Optional.of("b"))) throw new IllegalStateException("no entity can be made");
      return Optional.of(actor);
    });

    assertEquals(List.of("a", "c"), List.of(Patience.nextOf(handled), Patience.nextOf(handled)));
    assertEquals(List.of(new TellBundle.Refusal(1, "java.lang.IllegalStateException: no entity can be made")),
        nextRefusals());
  }

  @Test
  void onlyMessageWhoseAddressCannotBeCreatedIsRefused() {
    dispatcher().deliverAll(bundle("a", "b"), (target, body) -> {
      if (PROTOCOL.decode(body).equals("a")) throw new IllegalStateException("no address");
      return target;
    }, key -> Optional.of(actor));

    assertEquals("b", Patience.nextOf(handled));
    assertEquals(List.of(new TellBundle.Refusal(0, "java.lang.IllegalStateException: no address")), nextRefusals());
  }
}
