package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.pool.Entities;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Runs the Javadoc snippets of entities. */
class EntitiesSnippetsTest {
  private final Map<String, List<String>> stored = new ConcurrentHashMap<>();

  private List<String> load(String id) {
    return new ArrayList<>(stored.getOrDefault(id, List.of()));
  }

  @Test
  void entityStopHookStoresItemsWhenEntitiesClose() {
    // @start region="entities"
    Entities<String, String> carts = Entities.open(ActorSystem.named("cart"), Duration.ofMinutes(10),
        (cart, id) -> cart.initialState(() -> load(id))
            .onStop(items -> stored.put(id, items))
            .newActor((List<String> items, String item) -> items.add(item)));

    carts.actor("ada").sendMessage("milk"); // creates Ada's cart
    carts.actor("ada").sendMessage("bread"); // the same cart, or its successor with the milk
    carts.close();
    // @end

    assertEquals(List.of("milk", "bread"), stored.get("ada"));
  }
}
