package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.Variants.Variant;
import io.fibry.support.Child;
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

/** The MDC follows messages. Runs as a program of its own, since the tests' logger has no MDC. */
class MdcJvmTest {

  /** The simple provider with an MDC. */
  public static final class WithMdc implements SLF4JServiceProvider {
    private final SLF4JServiceProvider simple = new SimpleServiceProvider();
    private final MDCAdapter adapter = new BasicMDCAdapter();

    /** For slf4j. */
    public WithMdc() {}

    @Override
    public MDCAdapter getMDCAdapter() {
      return adapter;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
      return simple.getLoggerFactory();
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
      return simple.getMarkerFactory();
    }

    @Override
    public String getRequestedApiVersion() {
      return simple.getRequestedApiVersion();
    }

    @Override
    public void initialize() {
      simple.initialize();
    }
  }

  static final class Program {
    public static void main(String[] args) {
      Variants.strategiesAlone().forEach(Program::play);
      Strategy foreign = activation -> Thread.ofPlatform().start(() -> {
        MDC.put("user", "mallory");
        activation.run();
      });
      System.out
          .println(Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())).anonymous().strategy(foreign)
              .newActorWithReturn((String message) -> message + MDC.get("user")).ask("foreign "));
    }

    /**
     * Handlers leave a value in the MDC. The next handler does not see it, nor does the sender,
     * which keeps its own.
     */
    private static void play(Variant variant) {
      var seen = new CopyOnWriteArrayList<String>();
      var actor = variant.builder(Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())))
          .newActor((Object message) -> {
            if (message instanceof Gate gate) gate.pass();
            else seen.add(MDC.get("user") + MDC.get("left"));
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
      System.out.println(String.join(", ", seen) + ", " + MDC.get("user") + MDC.get("left"));
      MDC.clear();
    }
  }

  @Promise("14.8")
  @Test
  void mdcReachesHandlerOnEveryStrategyAndIsCleared() throws Exception {
    try (var child = Child.java(List.of("-Dslf4j.provider=" + WithMdc.class.getName()), Program.class)) {
      var lines = child.ended(0).lines().filter(line -> !line.startsWith("SLF4J")).toList();

      assertEquals(Variants.strategiesAlone().map(variant -> "alicenull, nullnull, bobnull").toList(),
          lines.subList(0, lines.size() - 1));
      assertEquals("foreign null", lines.getLast()); // an empty capture hides the thread's value
    }
  }

  @Promise("14.8")
  @Test
  void mdcPropagatorWorksWithoutMdc() {
    assertNull(MDC.getCopyOfContextMap());
    var actor =
        Variants.scope(o -> o.withContextPropagator(ContextPropagator.mdc())).anonymous()
            .newActorWithReturn((String message) -> message);

    assertEquals("answered", actor.ask("answered"));
  }
}
