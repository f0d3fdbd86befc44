package io.fibry.spring;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * A store of durable actors in a folder, if a property names one. A bean of type {@code Store}
 * replaces it. Beans are destroyed after the scope has closed, and the store is one of them.
 */
@AutoConfiguration(after = FibryAutoConfiguration.class)
@ConditionalOnClass(FolderStore.class)
@ConditionalOnBean(ScopeOptions.class)
public final class FibryStoreAutoConfiguration {
  FibryStoreAutoConfiguration() {}

  /** A child context uses its parent's: one process opens a folder once. */
  @Bean
  @ConditionalOnProperty("fibry.store.folder")
  @ConditionalOnMissingBean(Store.class)
  FolderStore folderStore(FibryProperties properties) {
    return FolderStore.open(Path.of(properties.store().checkedFolder()));
  }

  /** After a failed start no scope has closed: its actors end before their store. */
  @Bean
  static FailedStartCleanup fibryStoreCleanup(ConfigurableListableBeanFactory beans) {
    return new FailedStartCleanup(beans, Store.class::isInstance);
  }
}
