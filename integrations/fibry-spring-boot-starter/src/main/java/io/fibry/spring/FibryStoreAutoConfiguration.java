package io.fibry.spring;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * Opens a store of durable actors in a folder, if the property {@code fibry.store.folder} names a
 * folder. A bean of type {@code Store} replaces this store. The scope closes before Spring destroys
 * beans such as the store.
 */
@AutoConfiguration(after = FibryAutoConfiguration.class)
@ConditionalOnClass(FolderStore.class)
@ConditionalOnBean(ScopeOptions.class)
public final class FibryStoreAutoConfiguration {
  FibryStoreAutoConfiguration() {}

  /** A child context uses its parent's store, because a process can open a folder only once. */
  @Bean
  @ConditionalOnProperty("fibry.store.folder")
  @ConditionalOnMissingBean(Store.class)
  FolderStore folderStore(FibryProperties properties) {
    return FolderStore.open(Path.of(properties.store().checkedFolder()));
  }

  /** Makes the actors end before their store if the start of the context fails. */
  @Bean
  static FailedStartCleanup fibryStoreCleanup(DefaultListableBeanFactory beans) {
    return new FailedStartCleanup(beans, Store.class::isInstance);
  }
}
