package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import io.fibry.ActorSystem;
import io.fibry.engine.scope.Scope;
import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EngineClassesTest {
  @Test
  void allEngineClassesWithStaticInitializerAreListed() {
    var unlisted = new TreeSet<String>();
    for (var type : ArchitectureRules.MAIN)
      if (Stream.of("io.fibry.engine.", "io.fibry.time.").anyMatch(type.getName()::startsWith)
          && type.getStaticInitializer().isPresent())
        unlisted.add(type.getName().substring("io.fibry.".length()));
    EngineClasses.names().forEach(unlisted::remove);
    EngineClasses.mailboxNames().forEach(unlisted::remove);

    assertEquals(List.of(), List.copyOf(unlisted));
  }

  @Test
  void listedEngineClassesExist() {
    for (var names : List.of(EngineClasses.names(), EngineClasses.mailboxNames()))
      for (String name : names) assertDoesNotThrow(() -> Class.forName("io.fibry." + name));
  }

  @Test
  void classesUsedBeforeStackCheckHaveNoStaticInitializer() {
    for (var type : List.of(EngineClasses.class, ActorSystem.class, Scope.class, Scope.class.getSuperclass())) {
      JavaClass importedType = ArchitectureRules.MAIN.get(type);

      assertEquals(false, importedType.getStaticInitializer().isPresent(), type.getName());
    }
  }
}
