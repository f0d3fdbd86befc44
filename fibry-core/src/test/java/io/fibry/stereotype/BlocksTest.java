package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that each recipe creates its block with the settings of the builder. */
class BlocksTest {
  private final ActorScope scope = ActorSystem.openScope("blocks");
  private final Stereotypes recipes = Stereotypes.of(scope.anonymous().strategy(Strategy.THREAD));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private static boolean isOnThread() {
    return !Thread.currentThread().isVirtual();
  }

  @Test
  void poolsUseStrategyOfBuilder() {
    assertTrue(recipes.poolPerMessage().newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.pool(2).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.scalingPool(0, 2).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.weightedPool(9, String::length).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.poolByKey(2, String::length).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(5, scope.report().handled());
  }

  @Test
  void topicOfRecipeUsesStrategyOfBuilder() {
    var topic = recipes.<String>topic();
    topic.subscribeToLatest(news -> received.add(news + isOnThread()));

    topic.publish("rain ");
    topic.close();

    assertEquals(List.of("rain true"), received);
  }

  @Test
  void observableValuesNotifySubscribers() {
    var level = recipes.observableValue(1);
    var levels = recipes.<String, Integer>observableMap();
    level.subscribe(value -> received.add(value));
    levels.subscribe("a", value -> value.ifPresent(received::add));

    level.set(2);
    levels.put("a", 3);

    Patience.eventually(() -> received.containsAll(List.of(2, 3)));
  }

  @Test
  void generatorProducesItemsForReader() {
    var squares = recipes.<Integer>generator(2, out -> IntStream.range(0, 5).forEach(n -> out.yield(n * n)));

    assertEquals(List.of(0, 1, 4, 9, 16), squares.stream().toList());
  }

  @Test
  void closedPipelineHandlesItsMessages() {
    var pipeline = recipes.pipeline((String line) -> line.trim()).then(2, line -> line + isOnThread())
        .into(received::add);

    pipeline.sendMessage(" a ");
    pipeline.close();

    assertEquals(List.of("atrue"), received);
  }

  @Test
  void mapReduceRecipeMapsAndReducesItems() {
    var sum = recipes.mapReduce(2, List.of("a", "bc"), String::length, 0, Integer::sum);

    assertEquals(3, Patience.value(sum));
  }

  @Test
  void poolBuilderHasStrategyOfBuilder() {
    assertSame(Strategy.THREAD, BlockBuilder.of(recipes.pool(2)).strategy());
  }
}
