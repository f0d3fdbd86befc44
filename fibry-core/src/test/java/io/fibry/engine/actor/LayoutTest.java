package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.LeakProbe;
import io.fibry.Promise;
import io.fibry.Sink;
import io.fibry.Variants;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Child;
import io.fibry.support.Soak;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;

/**
 * An actor costs one object of 40 bytes, before and after work. The sizes assume default flags:
 * compressed references, no compact headers.
 */
class LayoutTest {
  private static final int MANY = 10_000;
  private static final int ON_THE_HEAP = Soak.ON ? 250_000 : 40_000;
  private static final int LOOKED_INTO = Soak.ON ? 2_000 : 400; // each with all its parts
  private static final long PLACE = 4; // bytes of an element of an array

  @Promise("11.1")
  @Test
  void actorIsOneObjectOf40Bytes() {
    assertEquals(40, size(ActorCell.class));
  }

  @Test
  void aHandlerOfItsOwnCosts24Bytes() {
    var cell = (ActorCell) (Actor<?>) ActorSystem.anonymous().newActor((String message) -> {});

    assertEquals(24, size(Inside.behavior(cell).getClass()));
  }

  @Test
  void requestIsOneObjectOf48Bytes() {
    assertEquals(48, size(RequestFuture.class));
  }

  @Test
  void envelopeIsOneObjectOf24Bytes() {
    assertEquals(24, size(Envelope.class));
  }

  @Promise("11.1")
  @Test
  void idleSinkRetainsAtMost64Bytes() {
    double each = retained(sink -> {});

    assertTrue(each <= 64, each + " bytes");
  }

  @Promise("11.1")
  @Test
  void sinkThatWorkedRetainsNoMoreThanAnIdleOne() {
    double each = retained(LayoutTest::work);

    assertTrue(each <= 64, each + " bytes");
  }

  @Test
  void everySinkIsItsOwnObject() {
    var sinks = sinks(MANY);

    var different = Collections.newSetFromMap(new IdentityHashMap<>());
    different.addAll(Arrays.asList(sinks));

    assertEquals(MANY, different.size());
  }

  /** Measures the size on the heap, with so many actors that noise does not matter. */
  @Test
  void heapGrowsByAtMost64BytesPerSink() {
    growsByAtMost(64, () -> Stereotypes.fibers().sink(null));
  }

  @Test
  void heapGrowsByAtMost72BytesPerActorThatAnswers() {
    growsByAtMost(72, () -> ActorSystem.anonymous().newActorWithReturn((Integer n) -> n + 1));
  }

  @Test
  void heapGrowsByAtMost112BytesPerActorOfAScope() {
    try (var scope = Variants.scope(o -> o)) {
      growsByAtMost(112, () -> scope.anonymous().newActor((String message) -> {}));
    }
  }

  /** The most is that of one in the inbox of the timers' thread, and in its set as well. */
  @Test
  void heapGrowsByAtMost192BytesPerTimer() {
    try (var scope = Variants.scope(o -> o.withDeadLetters(letter -> {}))) {
      var alarmed = scope.anonymous().newActor((String message) -> {});
      growsByAtMost(192, () -> alarmed.sendMessageLater("alarm", Duration.ofDays(1)));
    }
  }

  private static void growsByAtMost(int bytes, Supplier<Object> maker) {
    for (int i = 0; i < 1_000; i++) maker.get(); // creates what is shared

    long grown = LeakProbe.growth((bytes + PLACE) * ON_THE_HEAP, () -> {
      var made = new Object[ON_THE_HEAP];
      for (int i = 0; i < made.length; i++) made[i] = maker.get();
      return made;
    });

    double each = grown / (double) ON_THE_HEAP - PLACE;
    assertTrue(each > 16 && each <= bytes, each + " bytes");
  }

  @Soak(counterpart = "LayoutTest.heapGrowsByAtMost64BytesPerSink")
  @Test
  void tenMillionActorsAnswerInOneGigabyte() {
    try (var child = Child.java(List.of("-Xmx1g"), TenMillion.class)) {
      assertEquals("10000000 answered", child.ended(0));
    }
  }

  static final class TenMillion {
    public static void main(String[] args) {
      var actors = sinks(10_000_000);
      var answered = new AtomicInteger();
      Stereotypes.fibers().runOnce(() -> {
        for (var actor : actors) answered.addAndGet(actor.ask(nothing -> 1));
      }).waitForExit();
      System.out.println(answered + " answered");
    }
  }

  /**
   * The bytes that one more sink makes reachable, without what sinks share and without its place in
   * the array.
   */
  private static double retained(Consumer<Sink<Void>> work) {
    var sinks = sinks(LOOKED_INTO);
    for (var sink : sinks) work.accept(sink);
    for (var sink : sinks) Inside.awaitIdle((ActorCell) (Sink<?>) sink);

    double all = 0;
    for (var sink : sinks) all += size(ActorCell.class) + ownParts(sink);
    return all / sinks.length;
  }

  /**
   * The size of what a cell refers to. Leaves out its behavior, from which everything in the
   * process can be reached.
   */
  private static long ownParts(Object cell) {
    long bytes = 0;
    for (Class<?> type = cell.getClass(); type != Object.class; type = type.getSuperclass()) {
      for (var field : type.getDeclaredFields()) {
        if (field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers())
            || field.getType() == ActorBehavior.class)
          continue;
        Object part = part(field, cell);
        if (part != null) bytes += GraphLayout.parseInstance(part).totalSize();
      }
    }
    return bytes;
  }

  private static Object part(Field field, Object cell) {
    try {
      field.setAccessible(true);
      return field.get(cell);
    } catch (IllegalAccessException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static void work(Sink<Void> sink) {
    sink.execAsync(nothing -> {});
    sink.ask(nothing -> "done");
  }

  private static Sink<Void>[] sinks(int count) {
    @SuppressWarnings("unchecked") // arrays know no type arguments
    Sink<Void>[] sinks = (Sink<Void>[]) new Sink<?>[count];
    for (int i = 0; i < count; i++) sinks[i] = Stereotypes.fibers().sink(null);
    return sinks;
  }

  private static long size(Class<?> type) {
    return ClassLayout.parseClass(type).instanceSize();
  }
}
