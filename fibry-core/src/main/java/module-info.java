import io.fibry.engine.carrier.CarrierProvider;
import org.jspecify.annotations.NullMarked;

/**
 * Actors on virtual threads: some state, a mailbox, and a handler that sees one message at a time.
 *
 * {@snippet :
 * import io.fibry.ActorSystem;
 * import java.util.concurrent.atomic.LongAdder;
 *
 * class Account {
 *   public static void main(String[] args) {
 *     try (var account = ActorSystem.named("account")
 *         .initialState(LongAdder::new)              // only this actor touches it
 *         .newActorWithReturn((LongAdder cents, Integer deposit) -> {
 *           cents.add(deposit);                      // one message at a time: no locks
 *           return cents.sum();
 *         })) {
 *       account.sendMessage(500);                    // does not wait
 *       long balance = account.ask(200);             // waits for the answer
 *       System.out.println(balance); // prints 700
 *     } // handles the waiting messages, then ends the actor
 *   }
 * }
 * }
 *
 * <p>Start at {@link io.fibry.ActorSystem}, which makes actors;
 * {@link io.fibry.stereotype.Stereotypes} has ready-made ones. The <a
 * href="https://fibry.io/fibry/docs/guide/README.md">guide</a> has sixteen short chapters, and the
 * <a href="https://fibry.io/fibry">repository</a> has examples.
 */
@NullMarked
@SuppressWarnings("module") // the modules named below are built after this one
module io.fibry {
  requires java.net.http;
  requires jdk.jfr;
  requires org.slf4j;
  requires static org.jspecify;

  uses CarrierProvider; // the optional module fibry-carriers

  exports io.fibry;
  exports io.fibry.engine.carrier to io.fibry.carriers;
  exports io.fibry.flow;
  exports io.fibry.fsm;
  exports io.fibry.io;
  exports io.fibry.mailbox;
  exports io.fibry.net;
  exports io.fibry.pool;
  exports io.fibry.pubsub;
  exports io.fibry.spi;
  exports io.fibry.stereotype;
  exports io.fibry.text to io.fibry.cluster, io.fibry.dashboard, io.fibry.durable, io.fibry.jackson, io.fibry.jdbc,
      io.fibry.nats, io.fibry.opentelemetry, io.fibry.simulation, io.fibry.spring, io.fibry.test;
  exports io.fibry.time;
}
