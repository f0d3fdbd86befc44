package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.support.Child;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.simple.SimpleServiceProvider;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Tests that the MDC follows messages. Runs in a JVM of its own, because the logger of the tests
 * has no MDC.
 */
class MdcJvmTest {

  /** The provider of slf4j-simple, with an MDC added. */
  public static final class MdcServiceProvider implements SLF4JServiceProvider {
    private final SLF4JServiceProvider simpleProvider = new SimpleServiceProvider();
    private final MDCAdapter adapter = new BasicMDCAdapter();

    /** Called by slf4j. */
    public MdcServiceProvider() {}

    @Override
    public MDCAdapter getMDCAdapter() {
      return adapter;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
      return simpleProvider.getLoggerFactory();
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
      return simpleProvider.getMarkerFactory();
    }

    @Override
    public String getRequestedApiVersion() {
      return simpleProvider.getRequestedApiVersion();
    }

    @Override
    public void initialize() {
      simpleProvider.initialize();
    }
  }

  static final class Program {
    public static void main(String[] args) {
      Variants.strategiesAlone().forEach(Program::printMdcValues);
      Strategy foreignStrategy = activation -> Thread.ofPlatform().start(() -> {
        MDC.put("user", "mallory");
        activation.run();
      });
      System.out
          .println(Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())).anonymous()
              .strategy(foreignStrategy)
              .newActorWithReturn((String message) -> message + MDC.get("user")).ask("foreign "));
    }

    /**
     * Sends to handlers that leave a value in the MDC, and prints the values of the MDC that
     * handlers and sender see. Neither the next handler nor the sender may see the value that was
     * left, and the sender must keep its own value.
     */
    private static void printMdcValues(Variant variant) {
      var mdcValues = new CopyOnWriteArrayList<String>();
      var actor = variant.builder(Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())))
          .newActor((Object message) -> {
            if (message instanceof Gate gate) gate.pass();
            else mdcValues.add(MDC.get("user") + MDC.get("left"));
            MDC.put("left", " something");
          });
      var gate = Gate.occupy(actor);
      MDC.put("user", "alice");
      actor.sendMessage(1);
      MDC.clear();
      actor.sendMessage(2);
      gate.open();
      actor.close();
      MDC.put("user", "bob");
      variant.builder(Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())))
          .newActorWithReturn((Object message) -> {
            MDC.put("left", " something");
            return message;
          }).ask(3);
      System.out.println(String.join(", ", mdcValues) + ", " + MDC.get("user") + MDC.get("left"));
      MDC.clear();
    }
  }

  @Promise("14.8")
  @Test
  void mdcOfSenderReachesHandlerOnEveryStrategyAndIsCleared() throws Exception {
    try (var child = Child.java(List.of("-Dslf4j.provider=" + MdcServiceProvider.class.getName()), Program.class)) {
      var lines = child.awaitExit(0).lines().filter(line -> !line.startsWith("SLF4J")).toList();

      assertEquals(Variants.strategiesAlone().map(variant -> "alicenull, nullnull, bobnull").toList(),
          lines.subList(0, lines.size() - 1));
      // an empty MDC was captured, so the handler does not see the value of its thread
      assertEquals("foreign null", lines.getLast());
    }
  }

  @Promise("14.8")
  @Test
  void actorWithMdcPropagatorAnswersIfLoggerHasNoMdc() {
    assertNull(MDC.getCopyOfContextMap());
    var actor =
        Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())).anonymous()
            .newActorWithReturn((String message) -> message);

    assertEquals("answered", actor.ask("answered"));
  }
}
